#include "core/trace/answer/thread_lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/trace/answer/trace_timeline.h"
#include "core/trace/testing/make_trace.h"

namespace heapgauge::trace {
namespace {

using testing::AddRandomEvents;
using testing::MakeTrace;
using testing::RandomTrace;

Timeline LanesOf(const TraceFile& trace, uint64_t from_ns, uint64_t to_ns, size_t steps,
                 size_t lanes, size_t rows_at_once = 0) {
  TimelineRequest request;
  if (from_ns != 0) request.range.from = TraceMoment::At(from_ns);
  request.range.to = TraceMoment::At(to_ns);
  request.steps = steps;
  auto made = ReadTraceTimeline(trace, request);
  EXPECT_TRUE(made);
  const Status added =
      AddThreadLanes(trace, request.range, lanes, &made->timeline, nullptr, {}, rows_at_once);
  EXPECT_TRUE(added);
  return std::move(made->timeline);
}

// The slow way, over the blocks that the trace was made of.
Timeline::Lane LaneByHand(const MakeTrace& made, const Timeline& timeline,
                          const std::vector<uint32_t>& threads) {
  Timeline::Lane lane;
  for (const TimelineStep& step : timeline.steps) {
    // What happens at the start of a trace is in its first step.
    const bool is_start = step.begin == 0;
    uint64_t bytes = 0;
    uint64_t blocks = 0;
    uint64_t freed = 0;
    const auto is_inside = [&](uint64_t t) {
      return t <= step.end && (is_start || t > step.begin);
    };
    const auto counts = [&](uint32_t thread) {
      return std::find(threads.begin(), threads.end(), thread) != threads.end();
    };
    for (const Block& block : made.blocks()) {
      if (block.is_mapping) continue;
      if (is_inside(block.birth_ns) && counts(block.thread)) bytes += block.size, ++blocks;
      if (!block.is_live() && is_inside(block.death_ns) && counts(block.death_thread)) {
        freed += block.size;
      }
    }
    lane.allocated_bytes.push_back(bytes);
    lane.allocated_blocks.push_back(blocks);
    lane.freed_bytes.push_back(freed);
  }
  return lane;
}

void ExpectSame(const Timeline::Lane& lane, const Timeline::Lane& expected) {
  EXPECT_EQ(lane.allocated_bytes, expected.allocated_bytes);
  EXPECT_EQ(lane.allocated_blocks, expected.allocated_blocks);
  EXPECT_EQ(lane.freed_bytes, expected.freed_bytes);
}

TEST(ThreadLanes, CountWhatEachThreadDidInEachStep) {
  MakeTrace made;
  RandomTrace how;
  how.events = 3000;
  how.threads = 5;
  AddRandomEvents(how, &made);
  made.NameThread(1, "worker");
  const auto trace = made.Open();
  const uint64_t end = trace->end_ns();
  for (const auto& [from, to] : {std::pair<uint64_t, uint64_t>{0, end}, {end / 3, end / 2}}) {
    // Both ways: all threads in one go, and the busiest found first.
    for (const size_t rows_at_once : {100, 1}) {
      const Timeline timeline = LanesOf(*trace, from, to, 37, 3, rows_at_once);
      ASSERT_EQ(timeline.lanes.size(), 4u);
      std::vector<uint32_t> rest = {0, 1, 2, 3, 4};
      uint64_t sum = 0;
      for (size_t i = 0; i < 3; ++i) {
        const uint32_t index = timeline.lanes[i].thread - 1000;
        std::erase(rest, index);
        EXPECT_EQ(timeline.lanes[i].name, index == 1 ? "worker" : "");
        ExpectSame(timeline.lanes[i], LaneByHand(made, timeline, {index}));
      }
      EXPECT_TRUE(timeline.lanes[3].is_rest);
      EXPECT_EQ(timeline.lanes[3].threads, 2u);
      ExpectSame(timeline.lanes[3], LaneByHand(made, timeline, rest));
      // Together they are what the timeline says.
      for (const Timeline::Lane& lane : timeline.lanes) {
        for (const uint64_t bytes : lane.allocated_bytes) sum += bytes;
      }
      EXPECT_EQ(sum, timeline.sum.allocated_bytes);
    }
  }
}

TEST(ThreadLanes, OfARangeAmongEventsOfTheSameTimeAreThoseOfTheTimeline) {
  MakeTrace made;
  RandomTrace how;
  how.events = 2000;
  how.greatest_pause_ns = 2;
  AddRandomEvents(how, &made);
  const auto trace = made.Open();
  for (const size_t middle : {500, 999, 1501}) {
    const TraceMoment at{made.events()[middle - 1].time_ns, middle};
    uint64_t allocated = 0;
    uint64_t freed = 0;
    for (const TraceRange& range : {TraceRange{{}, at}, TraceRange{at}}) {
      TimelineRequest request;
      request.range = range;
      request.steps = 5;
      request.lanes = 2;
      const auto read = ReadTraceTimeline(*trace, request);
      ASSERT_TRUE(read);
      uint64_t bytes = 0;
      for (const Timeline::Lane& lane : read->timeline.lanes) {
        bytes = std::accumulate(lane.allocated_bytes.begin(), lane.allocated_bytes.end(), bytes);
        freed = std::accumulate(lane.freed_bytes.begin(), lane.freed_bytes.end(), freed);
      }
      EXPECT_EQ(bytes, read->timeline.sum.allocated_bytes);
      allocated += bytes;
    }
    const auto whole = ReadTraceTimeline(*trace, TimelineRequest{});
    ASSERT_TRUE(whole);
    EXPECT_EQ(allocated, whole->timeline.sum.allocated_bytes);
    EXPECT_EQ(freed, whole->timeline.sum.freed_bytes);
  }
}

TEST(ThreadLanes, LeaveOutWhoDidNothing) {
  MakeTrace made;
  const uint32_t stack = made.Stack({"leaf", "main"});
  made.Allocate(10, 0, 100, stack);
  made.Allocate(20, 2, 50, stack);
  const auto trace = made.Open();
  EXPECT_EQ(LanesOf(*trace, 0, kNever, 4, 10).lanes.size(), 2u);
  const Timeline late = LanesOf(*trace, 15, kNever, 4, 10);
  ASSERT_EQ(late.lanes.size(), 1u);
  EXPECT_EQ(late.lanes[0].thread, 1002u);
}

TEST(ThreadLanes, AnEmptyTraceHasNone) {
  const MakeTrace made;
  EXPECT_TRUE(LanesOf(*made.Open(), 0, kNever, 10, 5).lanes.empty());
}

TEST(TraceTimeline, KnowsWhatTheCgroupMayHave) {
  MakeTrace made;
  made.Allocate(1, 0, 10, made.Stack({"main"}));
  MemoryPoint point;
  point.time_ns = 30;
  point.resident_bytes = 100;
  point.proportional_bytes = 90;
  point.cgroup_bytes = 200;
  point.cgroup_limit = 1000;
  made.Memory(point);
  made.facts.recording.duration_ns = 100;
  TimelineRequest request;
  request.steps = 10;
  const auto timeline = ReadTraceTimeline(*made.Open(), request);
  ASSERT_TRUE(timeline);
  const std::vector<TimelineStep>& steps = timeline->timeline.steps;
  EXPECT_EQ(steps[1].cgroup_limit, 0u);
  // It holds until somebody looks again.
  for (const size_t i : {2, 9}) {
    EXPECT_EQ(steps[i].cgroup_limit, 1000u);
    EXPECT_EQ(steps[i].cgroup_bytes, 200u);
    EXPECT_EQ(steps[i].proportional_bytes, 90u);
  }
  EXPECT_EQ(timeline->timeline.sum.cgroup_limit, 1000u);
}

}  // namespace
}  // namespace heapgauge::trace
