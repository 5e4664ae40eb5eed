#include "core/report/views/timeline.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/text.h"
#include "core/formats/massif/massif_reader.h"
#include "core/report/draw/timeline_graph.h"

namespace heapgauge {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kMegabytes = 1 << 20;

// Grows to 8 MB in 4 s and falls to 2 MB in another 4.
Timeline Hill(size_t steps) {
  Timeline timeline;
  timeline.recording.program = "/usr/bin/server";
  timeline.recording.command_line = {"server", "--port", "80"};
  timeline.recording.pid = 42;
  timeline.recording.duration_ns = 8000 * kMs;
  timeline.exact = timeline.knows_flow = timeline.knows_blocks = true;
  timeline.to = timeline.to_ns = 8000 * kMs;
  uint64_t live = 0;
  for (size_t i = 0; i < steps; ++i) {
    TimelineStep step;
    step.begin = timeline.to * i / steps;
    step.end = step.time_ns = timeline.to * (i + 1) / steps;
    step.live_bytes = i < steps / 2
                          ? 8 * kMegabytes * (i + 1) / (steps / 2)
                          : 8 * kMegabytes - 6 * kMegabytes * (i + 1 - steps / 2) / (steps / 2);
    step.most_bytes = std::max(live, step.live_bytes);
    step.least_bytes = std::min(live, step.live_bytes);
    step.live_blocks = step.live_bytes / 1024;
    step.allocated_bytes = step.live_bytes > live ? step.live_bytes - live : 0;
    step.freed_bytes = step.live_bytes < live ? live - step.live_bytes : 0;
    step.allocated_blocks = step.allocated_bytes / 1024;
    step.freed_blocks = step.freed_bytes / 1024;
    step.resident_bytes = 9 * kMegabytes;
    live = step.live_bytes;
    timeline.steps.push_back(step);
  }
  Summarize(&timeline);
  return timeline;
}

TEST(Timeline, AfterLosingEventsItIsNotExact) {
  Timeline timeline = Hill(8);
  EXPECT_NE(TimelineJson(timeline).find("\"exact\": true"), std::string::npos);
  timeline.recording.has_gaps = true;
  EXPECT_NE(TimelineJson(timeline).find("\"exact\": false"), std::string::npos);
  EXPECT_NE(TimelineJson(timeline).find("allocated_blocks"), std::string::npos);
}

std::vector<std::string> Lines(const StyledText& text) {
  std::istringstream stream(text.text());
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TimelineOptions Options(size_t width, bool utf8) {
  TimelineOptions options;
  options.layout = {width, utf8};
  options.rows = 8;
  return options;
}

TEST(Timeline, IsAPictureInPlainCharactersToo) {
  const auto lines = Lines(TimelineText(Hill(49), Options(60, false)));
  ASSERT_GT(lines.size(), 16u);
  EXPECT_EQ(lines[0], "server  pid 42  8.0s recorded  server --port 80");
  EXPECT_EQ(lines[1],
            "live       8.0 MB at the peak in 8,192 blocks, 1.8 MB at the end in 1,792 blocks");
  for (const std::string& line : lines) {
    EXPECT_EQ(
        line.find_first_not_of(" !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`"
                               "abcdefghijklmnopqrstuvwxyz{|}~"),
        std::string::npos)
        << line;
  }
}

TEST(Timeline, FillsTheWidthAndNoMore) {
  for (const size_t width : {48, 80, 160, 300}) {
    for (const size_t steps : {2, 10, 69, 1000}) {
      for (const bool utf8 : {true, false}) {
        const auto lines = Lines(TimelineText(Hill(steps), Options(width, utf8)));
        size_t longest = 0;
        for (size_t i = 5; i < lines.size(); ++i) {
          longest = std::max(longest, DisplayWidth(lines[i]));
        }
        EXPECT_EQ(longest, width) << steps;
      }
    }
  }
}

TEST(Timeline, MarksThePeakOverItsColumn) {
  const auto lines = Lines(TimelineText(Hill(69), Options(80, true)));
  const std::string* arrow = nullptr;
  for (const std::string& line : lines) {
    if (line.find("\u25bc") != std::string::npos) arrow = &line;
  }
  ASSERT_NE(arrow, nullptr);
  const size_t at = arrow->find("\u25bc");
  EXPECT_EQ(at, 11u + 33);  // step 34 of 69 ends at the top
  EXPECT_NE(arrow->find("peak 8.0 MB at 3.942s"), std::string::npos) << *arrow;
}

TEST(Timeline, ListsMarkersAndStacks) {
  Timeline timeline = Hill(69);
  timeline.markers.push_back({4000 * kMs, 4000 * kMs, "config\x1b[31m loaded"});
  Timeline::Band band;
  band.frames = {"Load load.cc:7", "main main.cc:1"};
  band.peak_bytes = 4 * kMegabytes;
  band.most.assign(69, kMegabytes);
  timeline.bands.push_back(band);
  const std::string text = TimelineText(timeline, Options(80, true)).text();
  EXPECT_NE(text.find("a   4.000s  config"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("Load load.cc:7 \u2190 main main.cc:1"), std::string::npos) << text;
  EXPECT_NE(text.find("50.0%, most 1.0 MB"), std::string::npos) << text;
}

TEST(Timeline, LivesWithVeryLittle) {
  for (const size_t width : {1, 20, 80}) {
    Timeline timeline;
    EXPECT_FALSE(TimelineText(timeline, Options(width, true)).empty());
    timeline.steps.push_back({});
    EXPECT_FALSE(TimelineText(timeline, Options(width, true)).empty());
    timeline.steps[0].end = timeline.to = UINT64_MAX;
    timeline.steps[0].live_bytes = timeline.steps[0].most_bytes = UINT64_MAX;
    timeline.steps[0].allocated_bytes = UINT64_MAX;
    timeline.knows_flow = true;
    Summarize(&timeline);
    for (const TimeAxis axis : {TimeAxis::kTime, TimeAxis::kBytes, TimeAxis::kEvents}) {
      timeline.axis = axis;
      EXPECT_FALSE(TimelineText(timeline, Options(width, true)).empty());
    }
  }
}

TEST(Timeline, GivesScriptsAllPoints) {
  const Timeline timeline = Hill(10);
  const auto json = nlohmann::json::parse(TimelineJson(timeline));
  EXPECT_EQ(json["peak"]["live_bytes"], 8 * kMegabytes);
  EXPECT_EQ(json["points"].size(), 10u);
  EXPECT_EQ(json["points"][4]["live_bytes"], 8 * kMegabytes);
  EXPECT_EQ(json["points"][4]["time_ns"], 4000 * kMs);
  EXPECT_EQ(json["allocated_bytes"], 8 * kMegabytes);
  std::istringstream csv(TimelineCsv(timeline));
  std::string line;
  std::getline(csv, line);
  EXPECT_EQ(line,
            "time_ns,live_bytes,live_blocks,most_bytes,least_bytes,allocated_bytes,"
            "allocated_blocks,freed_bytes,freed_blocks,resident_bytes");
  std::getline(csv, line);
  EXPECT_EQ(line, "800000000,1677721,1638,1677721,0,1677721,1638,0,0,9437184");
}

TEST(Timeline, GivesScriptsNoFiguresThatNobodyKnows) {
  MassifFile file;
  file.unit = MassifUnit::kBytes;
  file.snapshots.resize(2);
  file.snapshots[1].time = 5000;
  file.snapshots[1].heap_bytes = 4000;
  const auto timeline = TimelineOfMassif(file, 0, UINT64_MAX);
  ASSERT_TRUE(timeline) << timeline.error().message;
  const auto json = nlohmann::json::parse(TimelineJson(*timeline));
  EXPECT_EQ(json["points"][1].dump(), R"({"at":5000,"live_bytes":4000})");
  EXPECT_EQ(json["peak"].dump(), R"({"at":5000,"live_bytes":4000})");
  EXPECT_FALSE(json.contains("to_ns"));
  const std::string csv = TimelineCsv(*timeline);
  EXPECT_NE(csv.find("\n5000,,4000,,,,,,,,\n"), std::string::npos) << csv;
}

TEST(Timeline, GivesScriptsTheNoughtThatIsKnown) {
  Timeline timeline = Hill(10);
  TimelineStep& end = timeline.steps.back();
  end.live_bytes = end.live_blocks = 0;
  Summarize(&timeline);
  const auto json = nlohmann::json::parse(TimelineJson(timeline));
  EXPECT_EQ(json["end"].dump(), R"({"live_blocks":0,"live_bytes":0,"time_ns":8000000000})");
}

TEST(Timeline, CallsAProgramOfMassifsByItsFirstWord) {
  MassifFile file;
  file.command = "/usr/bin/perl -e open(F, q(/etc/passwd))";
  file.snapshots.resize(2);
  const auto timeline = TimelineOfMassif(file, 0, UINT64_MAX);
  ASSERT_TRUE(timeline) << timeline.error().message;
  EXPECT_EQ(timeline->recording.name(), "perl");
  EXPECT_EQ(timeline->recording.program, "/usr/bin/perl");
  EXPECT_EQ(timeline->recording.command(), file.command);
  const auto json = nlohmann::json::parse(TimelineJson(*timeline));
  EXPECT_EQ(json["command_line"][0], "/usr/bin/perl");
}

std::vector<std::string> AxisLabels(TimeAxis axis, uint64_t from, uint64_t to, size_t most) {
  std::vector<std::string> labels;
  for (const Tick& tick : TicksOf(axis, from, to, most)) labels.push_back(tick.label);
  return labels;
}

TEST(TimelineAxis, HasRoundNumbers) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(AxisLabels(TimeAxis::kTime, 0, 4'100 * kMs, 5), (Words{"0", "1s", "2s", "3s", "4s"}));
  EXPECT_EQ(AxisLabels(TimeAxis::kTime, 1'000 * kMs, 2'000 * kMs, 4),
            (Words{"1.0s", "1.5s", "2.0s"}));
  EXPECT_EQ(AxisLabels(TimeAxis::kTime, 0, 12 * kMs, 4), (Words{"0", "5ms", "10ms"}));
  EXPECT_EQ(AxisLabels(TimeAxis::kTime, 0, 90'000 * kMs, 4), (Words{"0", "30s", "1m00s", "1m30s"}));
  EXPECT_EQ(AxisLabels(TimeAxis::kTime, 0, 7'200'000 * kMs, 4),
            (Words{"0", "30m00s", "1h00m", "1h30m", "2h00m"}));
  EXPECT_EQ(AxisLabels(TimeAxis::kBytes, 0, 121 * kMegabytes, 4),
            (Words{"0", "32 MB", "64 MB", "96 MB"}));
  EXPECT_EQ(AxisLabels(TimeAxis::kEvents, 0, 2'300'000, 5),
            (Words{"0", "500k", "1M", "1.5M", "2M"}));
  EXPECT_EQ(AxisLabels(TimeAxis::kTime, 5, 5, 5), Words{});
}

TEST(TimelineAxis, TellsPlacesAsExactlyAsAGraphCan) {
  EXPECT_EQ(PlaceOn(TimeAxis::kTime, 3'912'345'678, 4'000 * kMs), "3.912s");
  EXPECT_EQ(PlaceOn(TimeAxis::kTime, 64'500 * kMs, 120'000 * kMs), "1m04.5s");
  EXPECT_EQ(PlaceOn(TimeAxis::kTime, 299'970 * kMs, 300'000 * kMs), "5m00.0s");
  EXPECT_EQ(PlaceOn(TimeAxis::kTime, 12'345, 20'000), "12.35us");
  EXPECT_EQ(PlaceOn(TimeAxis::kTime, 3'723'000 * kMs, 8'000'000 * kMs), "1h02m03s");
}

TEST(TimelineOfProfile, BeginsAtTheStartAndHasThePeakBetweenTwoPoints) {
  Profile profile;
  profile.recording.has_peak = true;
  profile.recording.peak_ns = 1500 * kMs;
  profile.recording.peak_bytes = 9 * kMegabytes;
  for (uint64_t i = 0; i < 5; ++i) {
    TimelinePoint point;
    point.time_ns = 1 + i * 1000 * kMs;
    point.live_bytes = (i + 1) * kMegabytes;
    point.allocated_bytes = 3 * (i + 1) * kMegabytes;
    point.freed_bytes = 2 * (i + 1) * kMegabytes;
    profile.timeline.push_back(point);
  }
  const auto whole = TimelineOfProfile(profile, TimeAxis::kTime, 0, UINT64_MAX);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->from, 0u);
  EXPECT_EQ(whole->steps.size(), 5u);
  EXPECT_EQ(whole->sum.allocated_bytes, 15 * kMegabytes);
  EXPECT_EQ(whole->peak.bytes, 9 * kMegabytes);
  EXPECT_EQ(whole->peak.time_ns, 1500 * kMs);
  EXPECT_EQ(whole->steps[2].most_bytes, 9 * kMegabytes);
  const auto part = TimelineOfProfile(profile, TimeAxis::kBytes, 2000 * kMs, 3500 * kMs);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->from, 15 * kMegabytes);
  EXPECT_EQ(part->to, 20 * kMegabytes);
  EXPECT_EQ(part->sum.allocated_bytes, 3 * kMegabytes);
  EXPECT_FALSE(TimelineOfProfile(profile, TimeAxis::kEvents, 0, UINT64_MAX));
  EXPECT_FALSE(TimelineOfProfile(profile, TimeAxis::kTime, 6000 * kMs, UINT64_MAX));
  EXPECT_FALSE(TimelineOfProfile(Profile(), TimeAxis::kTime, 0, UINT64_MAX));
}

TEST(Resampled, KeepsTotalsAndHoldsWhatNobodyLookedAt) {
  Timeline timeline;
  timeline.knows_flow = true;
  for (const auto& [at, live] :
       std::vector<std::pair<uint64_t, uint64_t>>{{0, 5}, {50, 9}, {100, 2}}) {
    TimelineStep step;
    step.begin = timeline.steps.empty() ? at : timeline.steps.back().end;
    step.end = at;
    step.live_bytes = step.most_bytes = step.least_bytes = live;
    step.allocated_bytes = at * 2;
    timeline.steps.push_back(step);
  }
  timeline.to = 100;
  Summarize(&timeline);
  const Timeline more = InSteps(timeline, 10);
  std::vector<uint64_t> live;
  uint64_t allocated = 0;
  for (const TimelineStep& step : more.steps) {
    live.push_back(step.most_bytes);
    allocated += step.allocated_bytes;
  }
  EXPECT_EQ(live, (std::vector<uint64_t>{5, 5, 5, 5, 9, 9, 9, 9, 9, 2}));
  EXPECT_EQ(allocated, 300u);
  const Timeline fewer = InSteps(timeline, 1);
  EXPECT_EQ(fewer.steps[0].most_bytes, 9u);
  EXPECT_EQ(fewer.steps[0].least_bytes, 2u);
  EXPECT_EQ(fewer.steps[0].allocated_bytes, 300u);
}

}  // namespace
}  // namespace heapgauge
