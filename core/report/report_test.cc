#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "core/analysis/functions.h"
#include "core/base/text.h"
#include "core/formats/gauge/gauge_reader.h"
#include "core/formats/gauge/testing/gauge_builder.h"
#include "core/report/recording_text.h"
#include "core/report/top.h"
#include "core/report/traces.h"
#include "core/symbolize/symbolizer.h"

namespace heapgauge {
namespace {

using testing::GaugeBuilder;

struct Made {
  Profile profile;
  FunctionReport report;
};

Made Make(GaugeBuilder* b, const FunctionOptions& options = {}) {
  const std::string bytes = b->Build();
  Made made;
  made.profile = ReadGauge(MemorySource(bytes), "x.hg").value();
  Symbolize({}, &made.profile);
  made.report = AggregateFunctions(made.profile, options).value();
  return made;
}

GaugeBuilder Busy() {
  GaugeBuilder b;
  b.AddModule("/opt/server", 0x1000, 0x9000, 0x1000);
  const uint32_t a = b.AddStack({0x1101, 0x2001});
  const uint32_t c = b.AddStack({0x1201, 0x2001});
  for (int i = 0; i < 30; ++i) b.AddLive(a, 4096, wire::kDefaultIntervalBytes, 1'000'000'000);
  b.AddFreed(c, 100);
  b.header().ended_ns = 61'000'000'000;
  b.header().totals.lost[0] = 4;
  b.header().totals.lost_bytes = 2 << 20;
  return b;
}

TEST(Top, OpensWithTheFactsAndShowsRowsWithRanges) {
  GaugeBuilder b = Busy();
  const Made made = Make(&b);
  const std::string text = TopText(made.profile, made.report, {"a note"}, {});
  for (const char* part : {"server  pid ", "live       15.1 MB (95 %: 10.2-21.5 MB)", "allocated ",
                           "glibc", "1 in 512 kB, 31 samples, 30 live",
                           "4 samples, about 2.0 MB not in the figures (no room in the file 4)",
                           "note: a note", "10.2-21.5 MB", "100%", "server+0x100"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_LT(text.find("server+0x100"), text.find("server+0x200")) << "largest first";
}

TEST(Top, EveryLineFitsTheTerminal) {
  GaugeBuilder b = Busy();
  Made made = Make(&b);
  for (Function& function : made.profile.functions) {
    function.name =
        "a::very::long::scope<with, template, arguments>::" + std::string(200, 'f') + "(int)";
    function.file = "/src/some_rather_long_file_name.cc";
  }
  made.profile.frames[0].line = 12345;
  for (const size_t width : {100u, 120u, 200u}) {
    TopOptions options;
    options.width = width;
    std::istringstream lines(TopText(made.profile, made.report, {}, options));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(DisplayWidth(line), width) << line;
    }
  }
}

TEST(Top, AnEmptyProfileSaysHowMuchMayBeThere) {
  GaugeBuilder b;
  const Made made = Make(&b);
  const std::string text = TopText(made.profile, made.report, {}, {});
  EXPECT_NE(text.find("live       0 B (95 %: 0-1.8 MB)"), std::string::npos) << text;
  EXPECT_NE(text.find("No samples yet"), std::string::npos);
}

TEST(Top, CountsRowsThatAreNotShown) {
  GaugeBuilder b = Busy();
  const Made made = Make(&b);
  TopOptions options;
  options.rows = 1;
  const std::string text = TopText(made.profile, made.report, {}, options);
  EXPECT_NE(text.find("1 more functions (-n 2 shows all)"), std::string::npos) << text;
}

TEST(Top, JsonHasEveryFigureAndItsRange) {
  GaugeBuilder b = Busy();
  const Made made = Make(&b);
  const auto json = nlohmann::json::parse(TopJson(made.profile, made.report, {"n"}, {}));
  EXPECT_EQ(json["recording"]["allocator"], "glibc");
  EXPECT_EQ(json["recording"]["lost"]["no room in the file"], 4);
  EXPECT_EQ(json["functions"].size(), 2u);
  const auto& live = json["functions"][0]["flat"]["live_bytes"];
  EXPECT_LT(live["low"], live["value"]);
  EXPECT_GT(live["high"], live["value"]);
  EXPECT_EQ(json["functions"][0]["function"], "server+0x100");
  EXPECT_EQ(json["functions"][0]["flat"]["mean_age_ns"], 60'000'000'000);
  EXPECT_EQ(json["total"]["live_samples"], 30);
}

TEST(Traces, ShowStacksInnermostFirst) {
  GaugeBuilder b = Busy();
  const Made made = Make(&b);
  const auto text = TracesText(made.profile, {}, {});
  ASSERT_TRUE(text);
  const size_t inner = text->find("    server+0x100\n");
  const size_t outer = text->find("    server+0x1000\n");
  ASSERT_NE(inner, std::string::npos) << *text;
  EXPECT_LT(inner, outer);
  const auto json = TracesJson(made.profile, {});
  ASSERT_TRUE(json);
  EXPECT_EQ(nlohmann::json::parse(*json)["stacks"][0]["frames"][0]["function"], "server+0x100");
  TracesOptions bad;
  bad.filter.focus = "(";
  EXPECT_FALSE(TracesText(made.profile, {}, bad));
}

TEST(RecordingText, SaysWhatTheStateIs) {
  Recording r;
  r.duration_ns = 12'000'000'000;
  r.state = RecordingState::kKilled;
  EXPECT_EQ(StateText(r), "killed after 12s");
  r.state = RecordingState::kLive;
  EXPECT_EQ(StateText(r), "running for 12s");
}

}  // namespace
}  // namespace heapgauge
