// The reports that are made from rows: traces, tags, raw, comments. Their exact text is compared
// with pprof's own by tests/pprof; here are the cases that real profiles rarely have.
#include <gtest/gtest.h>

#include "core/model/testing/profile_maker.h"
#include "core/voices/pprof/measure.h"
#include "core/voices/pprof/report.h"
#include "core/voices/pprof/tag_filter.h"
#include "core/voices/pprof/testing/stacks.h"

namespace heapgauge::pprof {
namespace {

using heapgauge::testing::Maker;
using testing::NumberLabel;
using testing::SetLabels;
using testing::TextLabel;

struct RowReportsTest : ::testing::Test {
  RowReportsTest() {
    const ModuleId program = m.Module("/bin/server");
    const LocationId leaf = m.Function("leaf", 7, "leaf.cc", program, "_Z4leafv");
    m.InlinedInto(leaf, "outer", 9, "outer.cc");
    const LocationId main = m.Function("main", 3, "main.cc", program);
    m.Row({leaf, main}, 2048);
    m.Row({main}, 1024);
    m.Row({}, 512);
    Profile& p = m.profile();
    SetLabels(0,
              {TextLabel("job", "x", &p), TextLabel("job", "y", &p), TextLabel("a", "b", &p),
               NumberLabel("bytes", 4096, "", &p)},
              &p);
    SetLabels(1, {TextLabel("job", "z", &p), NumberLabel("wait", 1500, "ms", &p)}, &p);
  }

  template <typename Writer>
  std::string Text(Writer writer) {
    ReportInput input;
    input.profile = m.profile();
    input.type = kInuseSpace;
    input.total = 3584;
    input.request.config = config;
    input.label_units = FindLabelUnits(input.profile);
    StringSink sink;
    const Status status = writer(input, &sink);
    EXPECT_TRUE(status);
    return sink.Take();
  }

  Maker m;
  Config config;
};

TEST_F(RowReportsTest, TracesShowLabelsValueAndFramesOfEveryRow) {
  EXPECT_EQ(Text(WriteTraces),
            "File: server\n"
            "Type: inuse_space\n"
            "-----------+-------------------------------------------------------\n"
            "         a:  b\n"
            "       job:  x y\n"
            "     bytes:  4kB\n"
            "       2kB   leaf (inline)\n"
            "             outer\n"
            "             main\n"
            "-----------+-------------------------------------------------------\n"
            "       job:  z\n"
            "      wait:  1.50s\n"
            "       1kB   main\n"
            "-----------+-------------------------------------------------------\n");
}

TEST_F(RowReportsTest, TracesFollowTheGranularity) {
  config.granularity = Shape::kLines;
  config.no_inlines = true;
  const std::string text = Text(WriteTraces);
  EXPECT_NE(text.find("       2kB   outer outer.cc:9\n             main main.cc:3\n"),
            std::string::npos)
      << text;
}

TEST_F(RowReportsTest, TagsAreTablesByKeyWithTheWeightiestValueFirst) {
  EXPECT_EQ(Text(WriteTags),
            " a: Total 2.0kB\n"
            "    2.0kB (  100%): b\n"
            "\n"
            " bytes: Total 2.0kB\n"
            "        2.0kB (  100%): 4kB\n"
            "\n"
            " job: Total 5.0kB\n"
            "      2.0kB (40.00%): x\n"
            "      2.0kB (40.00%): y\n"
            "      1.0kB (20.00%): z\n"
            "\n"
            " wait: Total 1.0kB\n"
            "       1.0kB (  100%): 1.50s\n"
            "\n");
}

TEST_F(RowReportsTest, RawShowsEverythingThatIsInTheProfile) {
  Profile& p = m.profile();
  p.comments = {"one"};
  p.period_type = {"space", "bytes"};
  p.period = 524288;
  p.duration_ns = 1'234'567'890;
  p.default_type = kInuseSpace;
  p.locations[0].folded = true;
  p.modules[0].start = 0x1000;
  p.modules[0].end = 0x2000;
  p.modules[0].has_functions = true;
  EXPECT_EQ(Text(WriteRaw),
            "Comment: one\n"
            "PeriodType: space bytes\n"
            "Period: 524288\n"
            "Duration: 1.23\n"
            "Samples:\n"
            "alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes[dflt]\n"
            "          0          0          0       2048: 1 2 \n"
            "                a:[b] job:[x y]\n"
            "                bytes:[4096]\n"
            "          0          0          0       1024: 2 \n"
            "                job:[z]\n"
            "                wait:[1500 ms]\n"
            "          0          0          0        512: \n"
            "Locations\n"
            "     1: 0xfff M=1 [F] leaf leaf.cc:7 s=0(_Z4leafv)\n"
            "             outer outer.cc:9 s=0\n"
            "     2: 0x100f M=1 main main.cc:3 s=0\n"
            "Mappings\n"
            "1: 0x1000/0x2000/0x0 /bin/server  [FN]\n");
}

TEST_F(RowReportsTest, CommentsAreOneLineEach) {
  m.profile().comments = {"one", "# two"};
  EXPECT_EQ(Text(WriteComments), "one\n# two\n");
}

TEST(GoDurationText, UsesTheLargestUnitsThatFit) {
  EXPECT_EQ(GoDurationText(0), "0s");
  EXPECT_EQ(GoDurationText(999), "999ns");
  EXPECT_EQ(GoDurationText(1500), "1.5µs");
  EXPECT_EQ(GoDurationText(2'000'001), "2.000001ms");
  EXPECT_EQ(GoDurationText(30'000'000'000), "30s");
  EXPECT_EQ(GoDurationText(3'723'500'000'000), "1h2m3.5s");
  EXPECT_EQ(GoDurationText(-60'000'000'000), "-1m0s");
}

}  // namespace
}  // namespace heapgauge::pprof
