#include "core/voices/pprof/report.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/model/stacks.h"
#include "core/voices/pprof/testing/stacks.h"

namespace heapgauge::pprof {
namespace {

// A profile of functions whose names are their addresses' letters.
class ReportTest : public ::testing::Test {
 protected:
  ReportTest() {
    profile_.sample_types = {{"objects", "count"}, {"space", "bytes"}};
    Module& module = profile_.modules.emplace_back();
    module.path = "/usr/bin/server";
    module.start = 0x1000;
    module.end = 0x9000;
  }

  // A location with these functions, innermost first; "" for one without a name.
  LocationId At(const std::vector<std::string>& functions) {
    Location& location = profile_.locations.emplace_back();
    location.address = 0x1000 + profile_.locations.size() * 16;
    location.exact = true;
    location.module = 0;
    location.first_frame = static_cast<uint32_t>(profile_.frames.size());
    if (functions[0].empty()) return static_cast<LocationId>(profile_.locations.size() - 1);
    location.frame_count = static_cast<uint32_t>(functions.size());
    for (const std::string& name : functions) {
      Frame frame;
      frame.function = static_cast<FunctionId>(profile_.functions.size());
      frame.line = 7;
      profile_.frames.push_back(frame);
      Function& function = profile_.functions.emplace_back();
      function.name = name;
      function.file = "/src/" + name + ".cc";
    }
    return static_cast<LocationId>(profile_.locations.size() - 1);
  }

  // A row with a stack, innermost first.
  RowId Add(const std::vector<LocationId>& stack, int64_t objects, int64_t space) {
    StackBuilder builder(&profile_);
    Row row;
    row.leaf = builder.Leaf(stack);
    profile_.rows.push_back(row);
    profile_.values.insert(profile_.values.end(), {objects, space});
    return static_cast<RowId>(profile_.rows.size() - 1);
  }

  std::string Write(const ReportRequest& request) {
    Result<ReportInput> input = Prepare(profile_, request);
    if (!input) return "error: " + input.error().message;
    StringSink sink;
    const Status status = WriteReport(*input, &sink);
    if (!status) return "error: " + status.error().message;
    return sink.Take();
  }
  std::string Write(ReportKind kind, const Config& config = {}) {
    ReportRequest request;
    request.kind = kind;
    request.config = config;
    return Write(request);
  }

  Profile profile_;
};

TEST_F(ReportTest, TopHasFlatAndCumOfEachFunction) {
  const LocationId main = At({"main"});
  const LocationId parse = At({"parse"});
  Add({parse, main}, 3, 3 << 20);
  Add({main}, 1, 1 << 20);
  EXPECT_EQ(Write(ReportKind::kTop),
            "File: server\n"
            "Type: space\n"
            "Showing nodes accounting for 4MB, 100% of 4MB total\n"
            "      flat  flat%   sum%        cum   cum%\n"
            "       3MB 75.00% 75.00%        3MB 75.00%  parse\n"
            "       1MB 25.00%   100%        4MB   100%  main\n");
}

TEST_F(ReportTest, RecursionCountsOnce) {
  const LocationId f = At({"f"});
  const LocationId g = At({"g"});
  Add({f, g, f, g, f}, 1, 100);
  EXPECT_EQ(Write(ReportKind::kTree),
            "File: server\n"
            "Type: space\n"
            "Showing nodes accounting for 100B, 100% of 100B total\n"
            "----------------------------------------------------------+-------------\n"
            "      flat  flat%   sum%        cum   cum%   calls calls% + context \t \t \n"
            "----------------------------------------------------------+-------------\n"
            "                                              100B   100% |   g\n"
            "      100B   100%   100%       100B   100%                | f\n"
            "                                              100B   100% |   g\n"
            "----------------------------------------------------------+-------------\n"
            "                                              100B   100% |   f\n"
            "         0     0%   100%       100B   100%                | g\n"
            "                                              100B   100% |   f\n"
            "----------------------------------------------------------+-------------\n");
}

TEST_F(ReportTest, InlinedCallsAreMarked) {
  const LocationId inlined = At({"inner", "outer"});
  const LocationId alone = At({"inner"});
  const LocationId main = At({"main"});
  Add({inlined, main}, 1, 30);
  EXPECT_NE(Write(ReportKind::kTop).find("  inner (inline)\n"), std::string::npos);
  Add({alone, main}, 1, 10);
  EXPECT_NE(Write(ReportKind::kTop).find("  inner (partial-inline)\n"), std::string::npos);
  Config config;
  config.no_inlines = true;
  EXPECT_NE(Write(ReportKind::kTop, config).find("        30B 75.00%  outer\n"), std::string::npos);
}

TEST_F(ReportTest, CodeWithoutNamesIsOneNodeForEachModule) {
  Add({At({""})}, 1, 30);
  Add({At({""})}, 1, 12);
  EXPECT_NE(Write(ReportKind::kTop).find("       42B   100%   100%        42B   100%  [server]\n"),
            std::string::npos);
  Config config;
  config.granularity = Shape::kAddresses;
  EXPECT_NE(Write(ReportKind::kTop, config).find("  0000000000001010 [server]\n"),
            std::string::npos);
}

TEST_F(ReportTest, LightNodesAreDroppedAndTold) {
  const LocationId main = At({"main"});
  Add({At({"heavy"}), main}, 1, 100000);
  Add({At({"light"}), main}, 1, 1);
  const std::string text = Write(ReportKind::kTop);
  EXPECT_NE(text.find("Dropped 1 node (cum <= 0.49kB)\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("light"), std::string::npos);
  Config config;
  config.trim = false;
  EXPECT_NE(Write(ReportKind::kTop, config).find("light"), std::string::npos);
}

TEST_F(ReportTest, EdgesOverDroppedNodesAreResidual) {
  const LocationId main = At({"main"});
  const LocationId thin = At({"thin"});
  const LocationId leaf = At({"leaf"});
  Add({leaf, thin, main}, 1, 3);
  Add({leaf, main}, 1, 1000);
  Config config;
  const std::string text = Write(ReportKind::kDot, config);
  EXPECT_NE(text.find("tooltip=\"main ... leaf (1003B)\""), std::string::npos) << text;
  EXPECT_NE(text.find("style=\"dotted\""), std::string::npos);
}

TEST_F(ReportTest, MeansHavePercentagesOfTheSum) {
  const LocationId main = At({"main"});
  Add({At({"large"}), main}, 1, 300);
  Add({At({"small"}), main}, 10, 100);
  Config config;
  config.mean = true;
  config.unit = "bytes";
  const std::string text = Write(ReportKind::kTop, config);
  EXPECT_NE(text.find("Type: mean_space\n"), std::string::npos);
  EXPECT_NE(text.find("      300B 75.00% 75.00%       300B 75.00%  large\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("       10B 25.00%   100%        10B 25.00%  small\n"), std::string::npos);
  EXPECT_NE(text.find("         0     0%   100%        36B   100%  main\n"), std::string::npos);
}

TEST_F(ReportTest, ADifferenceIsPartOfItsBase) {
  const RowId before = Add({At({"before"})}, -1, -200);
  Add({At({"after"})}, 3, 300);
  testing::SetLabels(before, {testing::TextLabel("pprof::base", "true", &profile_)}, &profile_);
  const std::string text = Write(ReportKind::kTop);
  EXPECT_NE(text.find("Showing nodes accounting for 100B, 50.00% of 200B total\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("      300B 150.00% 150.00%       300B 150.00%  after\n"), std::string::npos);
  Config config;
  config.drop_negative = true;
  EXPECT_EQ(Write(ReportKind::kTop, config).find("before"), std::string::npos);
}

TEST_F(ReportTest, LabelsAreBoxesOfPictures) {
  const LocationId f = At({"f"});
  const RowId row = Add({f}, 1, 4096);
  testing::SetLabels(row,
                     {testing::TextLabel("thread", "w1", &profile_),
                      testing::NumberLabel("bytes", 2048, "", &profile_)},
                     &profile_);
  const std::string text = Write(ReportKind::kDot);
  EXPECT_NE(text.find("N1_0 [label = \"thread:w1\" id=\"N1_0\" fontsize=8 shape=box3d "
                      "tooltip=\"4kB\"]\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("NN1_0_0 [label = \"2kB\""), std::string::npos);
}

TEST_F(ReportTest, CallTreesKeepPathsApart) {
  const LocationId main = At({"main"});
  const LocationId a = At({"a"});
  const LocationId b = At({"b"});
  const LocationId shared = At({"shared"});
  Add({shared, a, main}, 1, 100);
  Add({shared, b, main}, 1, 50);
  Config config;
  config.call_tree = true;
  const std::string text = Write(ReportKind::kDot, config);
  EXPECT_NE(text.find("label=\"shared\\n100B (66.67%)\""), std::string::npos) << text;
  EXPECT_NE(text.find("label=\"shared\\n50B (33.33%)\""), std::string::npos);
}

TEST_F(ReportTest, CallgrindHasRelativeAddresses) {
  const LocationId main = At({"main"});
  const LocationId f = At({"f"});
  Add({f, main}, 1, 100);
  EXPECT_EQ(Write(ReportKind::kCallgrind),
            "positions: instr line\n"
            "events: space(B)\n"
            "\n"
            "ob=(1) /usr/bin/server\n"
            "fl=(1) /src/f.cc\n"
            "fn=(1) f\n"
            "0x1020 7 100\n"
            "\n"
            "ob=(1)\n"
            "fl=(2) /src/main.cc\n"
            "fn=(2) main\n"
            "-16 7 0\n"
            "cfl=(1)\n"
            "cfn=(1)\n"
            "calls=0 * 7\n"
            "* * 100\n");
}

TEST_F(ReportTest, MistakesAreTold) {
  Add({At({"main"})}, 1, 1);
  Config config;
  config.sample_index = "2";
  EXPECT_EQ(Write(ReportKind::kTop, config), "error: sample_index 2 is outside the range [0..1]");
  config.sample_index = "blocks";
  EXPECT_EQ(Write(ReportKind::kTop, config),
            "error: sample_index \"blocks\" must be one of: [objects space]");
  config = {};
  config.divide_by = 0;
  EXPECT_EQ(Write(ReportKind::kTop, config), "error: zero divisor specified");
  ReportRequest request;
  request.kind = ReportKind::kPeek;
  request.pattern = "nobody";
  EXPECT_EQ(Write(request), "error: no matches found for regexp: nobody");
  profile_.sample_types.clear();
  profile_.values.clear();
  EXPECT_EQ(Write(ReportKind::kTop), "error: profile has no samples");
}

TEST_F(ReportTest, InuseIsAlsoThePlainName) {
  Add({At({"main"})}, 5, 1);
  Config config;
  config.sample_index = "inuse_objects";
  EXPECT_NE(Write(ReportKind::kTop, config).find("Type: objects\n"), std::string::npos);
}

TEST_F(ReportTest, ExtremeValuesWrapAsTheyDoInPprof) {
  const LocationId main = At({"main"});
  Add({At({"f"}), main}, 1, INT64_MIN);
  Add({At({"g"}), main}, 0, INT64_MAX);
  Add({At({"h"}), main}, -1, INT64_MAX);
  for (ReportKind kind :
       {ReportKind::kTop, ReportKind::kTree, ReportKind::kDot, ReportKind::kCallgrind}) {
    for (bool mean : {false, true}) {
      Config config;
      config.mean = mean;
      EXPECT_NE(Write(kind, config), "");
    }
  }
}

}  // namespace
}  // namespace heapgauge::pprof
