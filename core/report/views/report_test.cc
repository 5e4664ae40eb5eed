#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "core/base/text.h"
#include "core/fold/functions.h"
#include "core/gauge/gauge_reader.h"
#include "core/gauge/testing/gauge_builder.h"
#include "core/report/recording_text.h"
#include "core/report/report_json.h"
#include "core/report/views/top.h"
#include "core/report/views/traces.h"
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
  const std::string text = TopText(made.profile, made.report, {"a note"}, {}).text();
  for (const char* part : {"server  pid ", "live       15.1 MB (95 %: 10.2-21.5 MB)", "allocated ",
                           "glibc", "1 in 512 kB, 31 samples, 30 live",
                           "4 samples, about 2.0 MB not in the figures (no room in the file 4)",
                           "note: a note", "10.2-21.5 MB", "100%", "server+0x100"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_LT(text.find("server+0x100"), text.find("server+0x200")) << "largest first";
}

TEST(Top, ThePeakIsNeverLessThanWhatIsLive) {
  GaugeBuilder b = Busy();
  Made made = Make(&b);
  made.profile.recording.has_peak = true;
  made.profile.recording.peak_bytes = 1024;
  std::string text = TopText(made.profile, made.report, {}, {}).text();
  EXPECT_NE(text.find("; never more before"), std::string::npos) << text;
  EXPECT_EQ(text.find("peak 1.0 kB"), std::string::npos) << text;
  made.profile.recording.peak_bytes = uint64_t{1} << 40;
  text = TopText(made.profile, made.report, {}, {}).text();
  EXPECT_NE(text.find("; peak 1.0 TB at"), std::string::npos) << text;
}

TEST(Top, TellsThatSeveralRecordingsAreAddedUp) {
  GaugeBuilder b = Busy();
  Made made = Make(&b);
  made.profile.recording.command_line = {"server", "--port", "80"};
  made.profile.recording.pid = 42;
  made.profile.recording.others = 2;
  const std::string text = TopText(made.profile, made.report, {}, {}).text();
  EXPECT_EQ(text.substr(0, text.find('\n')), "server  pid 42  and 2 more, added up");
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
  for (const size_t width : {80u, 100u, 120u, 200u}) {
    TopOptions options;
    options.layout.width = width;
    std::istringstream lines(TopText(made.profile, made.report, {}, options).text());
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(DisplayWidth(line), width) << line;
    }
  }
}

TEST(Top, TheTableFitsNarrowTerminalsToo) {
  GaugeBuilder b = Busy();
  Made made = Make(&b);
  for (Function& function : made.profile.functions) {
    function.name = "ns::Class<int>::" + std::string(200, 'f') + "(int)";
  }
  for (const SortKey sort : {SortKey::kLive, SortKey::kAllocated, SortKey::kCount, SortKey::kAge}) {
    for (size_t width = 40; width < 220; width += 3) {
      TopOptions options;
      options.sort = sort;
      options.layout.width = width;
      for (const StyledText& line : TopTable(made.profile, made.report, 0, options).Lines()) {
        EXPECT_LE(DisplayWidth(line.text()), width) << line.text();
      }
    }
  }
}

TEST(Top, NamesThatAreCutStillDiffer) {
  GaugeBuilder b = Busy();
  Made made = Make(&b);
  char letter = 'a';
  for (Function& function : made.profile.functions) {
    function.name = std::string(100, 'f') + letter++ + std::string(100, 'f');
  }
  made.report = AggregateFunctions(made.profile, {}).value();
  for (const size_t width : {40u, 80u, 120u, 300u}) {
    TopOptions options;
    options.layout.width = width;
    std::set<std::string> names;
    const auto lines = TopTable(made.profile, made.report, 0, options).Lines();
    for (const StyledText& line : lines) {
      EXPECT_LE(DisplayWidth(line.text()), width) << line.text();
      names.insert(line.text().substr(line.text().rfind("  ")));
    }
    EXPECT_EQ(names.size(), lines.size()) << width;
  }
}

TEST(Top, ColumnsComeWithTheWidth) {
  GaugeBuilder b = Busy();
  const Made made = Make(&b);
  const auto heading = [&](size_t width, SortKey sort) {
    TopOptions options;
    options.sort = sort;
    options.layout.width = width;
    return TopTable(made.profile, made.report, 0, options).Lines().front().text();
  };
  EXPECT_EQ(heading(80, SortKey::kLive), "     live      \u00b1  share    age  function");
  EXPECT_EQ(heading(120, SortKey::kLive),
            "     live     95 % range  share   objects allocated      \u00b1    age  function");
  EXPECT_NE(heading(60, SortKey::kAllocated).find("allocated"), std::string::npos);
  EXPECT_NE(heading(60, SortKey::kCount).find("objects"), std::string::npos);
}

TEST(Top, AnEmptyProfileSaysHowMuchMayBeThere) {
  GaugeBuilder b;
  const Made made = Make(&b);
  const std::string text = TopText(made.profile, made.report, {}, {}).text();
  EXPECT_NE(text.find("live       0 B (95 %: 0-1.8 MB)"), std::string::npos) << text;
  EXPECT_NE(text.find("No samples yet"), std::string::npos);
  Made ended = Make(&b);
  ended.profile.recording.state = RecordingState::kEnded;
  EXPECT_NE(TopText(ended.profile, ended.report, {}, {}).text().find("No samples: the program"),
            std::string::npos);
}

TEST(Top, AFilterThatLeavesNothingIsNotAProgramWithoutSamples) {
  GaugeBuilder b = Busy();
  FunctionOptions options;
  options.filter.focus = "nothing_is_called_so";
  const Made made = Make(&b, options);
  const std::string text = TopText(made.profile, made.report, {}, {}).text();
  EXPECT_NE(text.find("The filter leaves nothing.\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("No samples"), std::string::npos) << text;
}

TEST(Top, SaysWhereTheFiguresOfATracedProgramAre) {
  GaugeBuilder b;
  b.header().trace.tracing = 1;
  const Made made = Make(&b);
  const std::string text = TopText(made.profile, made.report, {}, {}).text();
  EXPECT_EQ(text.find("No samples yet"), std::string::npos) << text;
  EXPECT_NE(text.find("Its figures are in its trace"), std::string::npos) << text;
  EXPECT_NE(text.find("sampling   none: every call goes into its trace"), std::string::npos);
}

TEST(Top, SaysThatAllSamplesWereLost) {
  GaugeBuilder b;
  b.header().totals.lost[static_cast<size_t>(wire::Loss::kNoRoom)] = 190;
  const Made made = Make(&b);
  const std::string text = TopText(made.profile, made.report, {}, {}).text();
  EXPECT_EQ(text.find("No samples yet"), std::string::npos) << text;
  EXPECT_NE(text.find("All samples were lost: heapgauge doctor"), std::string::npos) << text;
}

TEST(Top, CountsRowsThatAreNotShown) {
  GaugeBuilder b = Busy();
  const Made made = Make(&b);
  TopOptions options;
  options.rows = 1;
  const std::string text = TopText(made.profile, made.report, {}, options).text();
  EXPECT_NE(text.find("1 more function (-n 2 shows all)"), std::string::npos) << text;
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
  StringSink text;
  ASSERT_TRUE(WriteTraces(made.profile, {}, {}, {}, &text));
  const size_t inner = text.text().find("    server+0x100\n");
  const size_t outer = text.text().find("    server+0x1000\n");
  ASSERT_NE(inner, std::string::npos) << text.text();
  EXPECT_LT(inner, outer);
  StringSink json;
  ASSERT_TRUE(WriteTracesJson(made.profile, {}, &json));
  EXPECT_EQ(nlohmann::json::parse(json.text())["stacks"][0]["frames"][0]["function"],
            "server+0x100");
  TracesOptions bad;
  bad.filter.focus = "(";
  EXPECT_FALSE(WriteTraces(made.profile, {}, bad, {}, &text));
}

TEST(RecordingText, SaysWhyADumpWasTaken) {
  RecordingFacts r;
  EXPECT_EQ(DumpText(r), "") << "not a dump";
  r.is_dump = true;
  r.dump.time_ns = 185'000'000'000;
  r.dump.reason = "limit";
  r.dump.cgroup_bytes = 476 << 20;
  r.dump.cgroup_limit = 512 << 20;
  r.dump.address_space_bytes = 1 << 30;
  EXPECT_EQ(DumpText(r),
            "snapshot taken at 3m05s because memory came near its limit (93 % of the cgroup limit "
            "512 MB)");
  r.dump.address_space_limit = 1 << 30;
  EXPECT_NE(DumpText(r).find("100 % of the address space limit 1.0 GB"), std::string::npos)
      << DumpText(r);
  r.dump = {};
  r.dump.reason = "limit";
  r.dump.resident_bytes = 300 << 20;
  EXPECT_NE(DumpText(r).find("(300 MB resident)"), std::string::npos) << DumpText(r);
  for (const char* reason : {"request", "exit", "allocated", "growth", "time", "", "nonsense"}) {
    r.dump.reason = reason;
    EXPECT_EQ(DumpText(r).rfind("snapshot taken at ", 0), 0u);
  }
}

TEST(RecordingText, SaysWhatBecameOfDumpsThatFailed) {
  RecordingFacts r;
  r.dump.failures = 2;
  r.dump.last_error = 28;
  EXPECT_EQ(DumpText(r), "2 dumps could not be written: No space left on device");
  r.dump.last_error = 0xffffffff;
  EXPECT_EQ(DumpText(r).rfind("2 dumps could not be written: ", 0), 0u);
}

TEST(Top, OfADumpOpensWithItsReason) {
  GaugeBuilder b = Busy();
  b.header().is_copy = 1;
  b.header().dump = {3, static_cast<uint32_t>(wire::DumpReason::kGrowth), 5'000'000'000, 0, 0};
  b.header().memory.state = 2;
  b.header().memory.resident_bytes = 123;
  const Made made = Make(&b);
  EXPECT_NE(TopText(made.profile, made.report, {}, {})
                .text()
                .find("dump       snapshot taken at 5.0s because live memory had grown\n"),
            std::string::npos);
  const auto json = nlohmann::json::parse(TopJson(made.profile, made.report, {}, {}));
  EXPECT_EQ(json["recording"]["dump"]["reason"], "growth");
  EXPECT_EQ(json["recording"]["dump"]["sequence"], 3);
  EXPECT_EQ(json["recording"]["dump"]["resident_bytes"], 123);
  EXPECT_EQ(json["recording"]["is_dump"], true);
}

TEST(RecordingText, OfATraceWithGapsItIsNotSaidToHaveEverything) {
  GaugeBuilder b = Busy();
  Made made = Make(&b);
  made.profile.recording.exact = true;
  const auto text = [&] { return RecordingText(made.profile, {}, {}, {}).text(); };
  EXPECT_NE(text().find("trace      every allocation and free, 31 allocations in all"),
            std::string::npos)
      << text();
  EXPECT_TRUE(RecordingJson(made.profile.recording).Text().find("\"exact\": true") !=
              std::string::npos);
  made.profile.recording.has_gaps = true;
  EXPECT_NE(text().find("trace      not every allocation and free; 31 allocations are in it"),
            std::string::npos)
      << text();
  EXPECT_TRUE(RecordingJson(made.profile.recording).Text().find("\"exact\": false") !=
              std::string::npos);
  // Nor of one that has nothing at all.
  made.profile.recording.has_gaps = false;
  made.profile.recording.samples = 0;
  EXPECT_NE(text().find("trace      no allocation: the program made none, or none was seen"),
            std::string::npos)
      << text();
}

TEST(RecordingText, SaysThatStacksOfATraceWereCut) {
  GaugeBuilder b = Busy();
  Made made = Make(&b);
  made.profile.recording.exact = true;
  made.profile.recording.truncated_walks = 2;
  const std::string text = RecordingText(made.profile, {}, {}, {}).text();
  EXPECT_NE(
      text.find("note: stacks without their outermost frames (no unwind data, or too deep): 2"),
      std::string::npos)
      << text;
}

TEST(RecordingText, TellsWhyThereAreNoRows) {
  RecordingFacts r;
  EXPECT_STREQ(NothingText(r), "No samples.\n");
  r.exact = true;
  EXPECT_STREQ(NothingText(r), "Nothing was allocated.\n");
  r.samples = 7;
  EXPECT_STREQ(NothingText(r), "No block: the moment, range or filter leaves nothing.\n");
}

TEST(RecordingText, SaysWhatTheStateIs) {
  RecordingFacts r;
  r.duration_ns = 12'000'000'000;
  r.state = RecordingState::kKilled;
  EXPECT_EQ(StateText(r), "killed after 12s");
  r.state = RecordingState::kLive;
  EXPECT_EQ(StateText(r), "running for 12s");
}

TEST(RecordingText, TellsHowLongAForkedProcessItselfHasLived) {
  RecordingFacts r;
  r.duration_ns = 72'000'000'000;
  r.state = RecordingState::kEnded;
  r.forked = true;
  EXPECT_EQ(StateText(r), "ended after 1m12s, forked");
  r.forked_ns = 60'000'000'000;
  EXPECT_EQ(StateText(r), "ended after 12s, forked at 1m00s");
  r.state = RecordingState::kSnapshot;
  EXPECT_EQ(StateText(r), "a copy made at 1m12s");
  r.exact = true;
  EXPECT_EQ(StateText(r), "recorded up to 1m12s, the program went on");
  r.exact = false;
  r.state = RecordingState::kLive;
  r.duration_ns = 40'000'000'000;  // before that: it cannot be
  EXPECT_EQ(StateText(r), "running for 40s, forked");
  r.exact = true;
  r.duration_ns = 72'000'000'000;
  EXPECT_EQ(StateText(r), "being written, 12s so far, forked at 1m00s");
}

}  // namespace
}  // namespace heapgauge
