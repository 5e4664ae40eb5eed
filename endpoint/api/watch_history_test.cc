#include "endpoint/api/process_source.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "endpoint/testing/ask.h"

namespace heapgauge::endpoint::api {
namespace {

using nlohmann::json;

constexpr uint64_t kSecond = 1'000'000'000;

WatchHistory::Look LookAtTime(uint64_t time_ns, uint64_t live, uint64_t limit = 0) {
  WatchHistory::Look look;
  look.time_ns = time_ns;
  look.live_bytes = live;
  look.memory.resident_bytes = 10 * live;
  look.memory.cgroup_limit = limit;
  return look;
}

TimelinePoint Point(uint64_t time_ns, uint64_t live, uint64_t allocated) {
  TimelinePoint point;
  point.time_ns = time_ns;
  point.live_bytes = live;
  point.allocated_bytes = allocated;
  return point;
}

TEST(WatchHistory, IsBoundedAndKeepsTheWholeTime) {
  WatchHistory history;
  uint64_t now = kSecond;
  for (int i = 0; i < 100'000; ++i, now += kSecond) {
    if (history.IsDue(now)) history.Add(LookAtTime(now, 1));
  }
  const auto looks = history.looks();
  EXPECT_LE(looks.size(), WatchHistory::kMost);
  EXPECT_GE(looks.size(), WatchHistory::kMost / 4);
  EXPECT_EQ(looks.front().time_ns, kSecond);
  EXPECT_GT(looks.back().time_ns, now - now / 100);
  for (size_t i = 1; i < looks.size(); ++i) EXPECT_GT(looks[i].time_ns, looks[i - 1].time_ns);
}

TEST(WatchHistory, FillsGapsAndLeavesWhatIsKnown) {
  WatchHistory history;
  history.Add(LookAtTime(1 * kSecond + 1, 100));
  history.Add(LookAtTime(5 * kSecond, 500));
  history.Add(LookAtTime(9 * kSecond, 900));
  const auto points = history.Complete(
      {Point(kSecond, 7, 70), Point(8 * kSecond, 8, 80), Point(20 * kSecond, 9, 90)});
  ASSERT_EQ(points.size(), 5u);
  EXPECT_EQ(points[1].live_bytes, 500u);
  EXPECT_EQ(points[1].allocated_bytes, 70u);
  EXPECT_EQ(points[1].resident_bytes, 5000u);
  EXPECT_EQ(points[3].live_bytes, 900u);
  EXPECT_EQ(points[3].allocated_bytes, 80u);
}

// A page looks every two seconds; the process then ends.
TEST(WatchHistory, GivesAProcessATimelineThatGrows) {
  testing::OneProcess host;
  host.process->memory_now = MemoryNow{50 << 20, 0, 60 << 20, 256 << 20};
  json answer;
  for (uint64_t i = 1; i <= 4; ++i) {
    host.process->facts.duration_ns = i * 2 * kSecond;
    host.process->memory_now->resident_bytes += 1 << 20;
    answer = json::parse(host.Get("/api/v1/timeline").body);
    EXPECT_EQ(answer["points"].size(), i);
  }
  const json& last = answer["points"][3];
  EXPECT_EQ(last["time_ns"], 8 * kSecond);
  EXPECT_EQ(last["live_bytes"], 8 << 20);
  EXPECT_EQ(last["resident_bytes"], 54 << 20);
  EXPECT_EQ(last["cgroup_limit"], 256 << 20);
  EXPECT_EQ(answer["points"][0]["resident_bytes"], 51 << 20);
  host.process->facts.state = RecordingState::kKilled;
  host.process->memory_now.reset();
  EXPECT_EQ(json::parse(host.Get("/api/v1/timeline").body)["points"], answer["points"]);
  // Looking at another view is looking as well.
  testing::OneProcess other;
  other.process->memory_now = MemoryNow{50 << 20, 0, 0, 0};
  other.process->facts.duration_ns = kSecond;
  other.Get("/api/v1/flame");
  other.process->facts.duration_ns = 3 * kSecond;
  EXPECT_EQ(json::parse(other.Get("/api/v1/timeline").body)["points"].size(), 2u);
}

}  // namespace
}  // namespace heapgauge::endpoint::api
