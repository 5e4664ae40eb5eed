#include "core/report/views/diff.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/model/testing/profile_maker.h"
#include "core/report/value_text.h"

namespace heapgauge {
namespace {

using testing::Maker;

struct Pair {
  Maker before;
  Maker after;
  Pair() {
    before.Row({before.Function("keeps")}, 5000);
    before.Row({before.Function("leaks", 7)}, 1000);
    before.Row({before.Function("goes")}, 300);
    after.Row({after.Function("keeps")}, 5000);
    after.Row({after.Function("leaks", 7)}, 900'000);
    after.Row({after.Function("comes, with \"quotes\"")}, 40);
  }
  DiffSources Sources() {
    return {{&before.profile(), &after.profile()}, {"old.hg", "new.hg"}, {}};
  }
  Comparison Compared(const FunctionOptions& options = {}) {
    return Compare({&before.profile(), &after.profile()}, options).value();
  }
};

TEST(Diff, ShowsBothSidesAndTheDifference) {
  Pair pair;
  const std::string text = DiffText(pair.Sources(), pair.Compared(), {}).text();
  for (const char* part :
       {"old.hg \u2192 new.hg", "6.2 kB \u2192 884 kB, +878 kB", "1 new, 1 gone, 1 grown",
        "+878 kB", "1000 B    879 kB", "grown", "leaks x.cc:7", "-300 B", "gone", "+40 B"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(text.find("keeps"), std::string::npos) << "what did not change is not shown";
}

TEST(Diff, SaysOnceWhenBothSidesOfATraceAreOfOneMoment) {
  Pair pair;
  for (Maker* maker : {&pair.before, &pair.after}) {
    RecordingFacts& recording = maker->profile().recording;
    recording.exact = true;
    recording.pid = 7;
    recording.program = "/bin/x";
    recording.moment = "at the end";
  }
  const std::string same = DiffText(pair.Sources(), pair.Compared(), {}).text();
  EXPECT_TRUE(same.starts_with("x  pid 7  both at the end\n")) << same;
  pair.before.profile().recording.moment = "at 5s";
  const std::string other = DiffText(pair.Sources(), pair.Compared(), {}).text();
  EXPECT_TRUE(other.starts_with("x  pid 7  at 5s and at the end\n")) << other;
}

TEST(Diff, NotesThatNotAllSourcesHaveNameTheirs) {
  EXPECT_EQ(NotesOfSources({"old.hg", "new.hg"}, {{"of both", "3 of 5"}, {"4 of 5", "of both"}}),
            (std::vector<std::string>{"of both", "old.hg: 3 of 5", "new.hg: 4 of 5"}));
  EXPECT_EQ(NotesOfSources({"old.hg", "new.hg"}, {{}, {"late"}}),
            std::vector<std::string>{"new.hg: late"});
}

TEST(Diff, TellsWhichTimeAndBlocksOfTracesAreCompared) {
  Pair pair;
  RecordingFacts& before = pair.before.profile().recording;
  RecordingFacts& after = pair.after.profile().recording;
  before.exact = after.exact = true;
  before.moment = after.moment = "at 12.3s";
  before.filter = after.filter = "at least 1000 B";
  const std::string same = DiffText(pair.Sources(), pair.Compared(), {}).text();
  EXPECT_NE(same.find("time       at 12.3s\nfilter     at least 1000 B\n"), std::string::npos)
      << same;
  after.moment = "at the end";
  const std::string other = DiffText(pair.Sources(), pair.Compared(), {}).text();
  EXPECT_NE(other.find("time       at 12.3s \u2192 at the end\n"), std::string::npos) << other;
}

TEST(Diff, EveryLineFitsTheTerminal) {
  Pair pair;
  pair.after.Row({pair.after.Function(std::string(300, 'x') + "::name(int)")}, 1 << 20);
  for (size_t width = 60; width < 200; width += 7) {
    DiffOptions options;
    options.layout.width = width;
    for (const StyledText& line : DiffText(pair.Sources(), pair.Compared(), options).Lines()) {
      EXPECT_LE(DisplayWidth(line.text()), width) << line.text();
    }
  }
}

TEST(Diff, JsonHasEveryChange) {
  Pair pair;
  const auto json = nlohmann::json::parse(DiffJson(pair.Sources(), pair.Compared(), {}));
  EXPECT_EQ(json["change_count"], 3);
  EXPECT_EQ(json["changes"][0]["function"], "leaks");
  EXPECT_EQ(json["changes"][0]["kind"], "grown");
  EXPECT_EQ(json["changes"][0]["change"]["value"], 899'000);
  EXPECT_EQ(json["total"]["before"]["value"], 6300);
}

TEST(Diff, ByBlocksShowsBlocks) {
  Pair pair;
  Maker* const sides[] = {&pair.before, &pair.after};
  for (Maker* maker : sides) {
    for (RowId row = 0; row < 3; ++row) maker->profile().value(row, kInuseObjects) = 10;
  }
  pair.after.profile().value(0, kInuseObjects) = 2000;
  FunctionOptions options;
  options.sort = SortKey::kCount;
  const Comparison made = pair.Compared(options);
  const std::string text = DiffText(pair.Sources(), made, {}).text();
  for (const char* part : {"objects    30 \u2192 2,020, +1,990", "+1,990        10     2,000"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(text.find("kB"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(DiffJson(pair.Sources(), made, {}));
  EXPECT_EQ(json["figure"], "inuse_objects");
  EXPECT_EQ(json["unit"], "count");
  EXPECT_EQ(json["changes"][0]["after"]["value"], 2000);
}

TEST(Diff, SaysNothingOfObjectsThatOneSideDoesNotCount) {
  Pair pair;
  Profile& before = pair.before.profile();
  before.sample_types[kInuseObjects].name = "something_else";
  EXPECT_EQ(DiffText(pair.Sources(), pair.Compared(), {}).text().find("objects"),
            std::string::npos);
  EXPECT_EQ(DiffJson(pair.Sources(), pair.Compared(), {}).find("objects_before"),
            std::string::npos);
  EXPECT_EQ(DiffCsv(pair.Sources(), pair.Compared()).find("objects_before"), std::string::npos);
}

TEST(Diff, CsvQuotesWhatNeedsIt) {
  Pair pair;
  const std::string csv = DiffCsv(pair.Sources(), pair.Compared());
  EXPECT_EQ(csv.substr(0, csv.find('\n')),
            "kind,before,after,change,change_low,change_high,beyond_chance,objects_before,"
            "objects_after,function,file,line,module");
  EXPECT_NE(csv.find("\"comes, with \"\"quotes\"\"\""), std::string::npos) << csv;
  EXPECT_NE(csv.find("grown,1000,900000,899000,899000,899000,yes,0,0,leaks,x.cc,7,\n"),
            std::string::npos)
      << csv;
}

TEST(Sparkline, IsAsHighAsItsValues) {
  EXPECT_EQ(Sparkline({0, 7, 14}, 10, true), "\u2581\u2585\u2588");
  EXPECT_EQ(Sparkline({0, 0}, 10, true), "\u2581\u2581");
  EXPECT_EQ(Sparkline({1, 2, 3, 4, 5, 6}, 3, false).size(), 3u);
  EXPECT_EQ(Sparkline({}, 3, true), "");
}

TEST(ValueText, KnowsBytesTimesAndCounts) {
  EXPECT_EQ(FormatValue(1536, "bytes"), "1.5 kB");
  EXPECT_EQ(FormatValue(-1536, "bytes"), "-1.5 kB");
  EXPECT_EQ(FormatValue(1.5e9, "nanoseconds"), "1.5s");
  EXPECT_EQ(FormatValue(2500, "microseconds"), "2.5ms");
  EXPECT_EQ(FormatValue(12345, "count"), "12,345");
  EXPECT_EQ(FormatChange(-12345, "count"), "-12,345");
  EXPECT_EQ(FormatChange(0.2, "count"), "0");
  EXPECT_EQ(FormatValueRange(1024, 2048, "bytes"), "1.0-2.0 kB");
}

}  // namespace
}  // namespace heapgauge
