#include "core/trace/answer/trace_timeline.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "core/trace/answer/live_stacks.h"
#include "core/trace/testing/make_trace.h"

namespace heapgauge::trace {
namespace {

using testing::AddRandomEvents;
using testing::MakeTrace;
using testing::RandomTrace;

MakeTrace TwelveStacks() {
  MakeTrace made;
  RandomTrace how;
  how.events = 2000;
  how.stacks = 12;
  AddRandomEvents(how, &made);
  return made;
}

// The slow way: every event, one after the other.
struct EventByEvent {
  struct Point {
    uint64_t at = 0;
    uint64_t time_ns = 0;
    uint64_t bytes = 0;
    uint64_t allocated = 0;
    uint64_t freed = 0;
  };
  std::vector<Point> points;  // after each event within the range
  uint64_t from = 0;
  uint64_t to = 0;
  uint64_t start_bytes = 0;

  EventByEvent(const MakeTrace& made, TimeAxis axis, uint64_t from_ns, uint64_t to_ns,
               const BlockChoice& counts) {
    uint64_t bytes = 0;
    uint64_t moved = 0;
    uint64_t events = 0;
    const auto size = [&](uint64_t number) -> uint64_t {
      if (number == kNoBlock) return 0;
      const Block& block = made.blocks()[number];
      return (counts ? counts(block) : !block.is_mapping) ? block.size : 0;
    };
    from = axis == TimeAxis::kTime ? from_ns : 0;
    for (const auto& event : made.events()) {
      if (event.time_ns > to_ns) break;
      const uint64_t allocated = size(event.born);
      const uint64_t freed = size(event.died);
      bytes = bytes + allocated - freed;
      moved += allocated + freed;
      ++events;
      const uint64_t at = axis == TimeAxis::kTime    ? event.time_ns
                          : axis == TimeAxis::kBytes ? moved
                                                     : events;
      if (from_ns != 0 && event.time_ns <= from_ns) {
        start_bytes = bytes;
        if (axis != TimeAxis::kTime) from = at;
        continue;
      }
      points.push_back({at, event.time_ns, bytes, allocated, freed});
    }
    to = axis == TimeAxis::kTime ? to_ns : points.empty() ? from : points.back().at;
  }
};

void Compare(const MakeTrace& made, const TraceFile& trace, TimeAxis axis, uint64_t from_ns,
             uint64_t to_ns, size_t steps, const Selection& selection = {}) {
  SCOPED_TRACE(std::string(TimeAxisName(axis)) + " " + std::to_string(from_ns) + ".." +
               std::to_string(to_ns) + " in " + std::to_string(steps));
  TimelineRequest request;
  request.axis = axis;
  if (from_ns != 0) request.range.from = TraceMoment::At(from_ns);
  request.range.to = TraceMoment::At(to_ns);
  request.steps = steps;
  const auto stacks = trace.ReadStacks();
  ASSERT_TRUE(stacks);
  const auto chosen = SelectBlocks(trace, **stacks, selection);
  ASSERT_TRUE(chosen) << chosen.error().message;
  request.counts = *chosen;
  const auto read = ReadTraceTimeline(trace, request);
  ASSERT_TRUE(read) << read.error().message;
  const Timeline& timeline = read->timeline;
  // What was made is as it was at the end: the fate of each block is known.
  BlockChoice right;
  if (selection.any()) {
    const auto matcher =
        std::make_shared<Matcher>(*Matcher::Compile(selection.filter, trace, **stacks));
    const auto rows = *SelectStacks(**stacks, selection.rows, selection.granularity);
    right = [=](const Block& block) {
      return (rows.empty() || rows[block.stack]) && matcher->Matches(block);
    };
  }
  const EventByEvent oracle(made, axis, from_ns, to_ns, right);
  ASSERT_EQ(timeline.steps.size(), steps);
  EXPECT_EQ(timeline.from, oracle.from);
  EXPECT_EQ(timeline.to, oracle.to);
  uint64_t bytes = oracle.start_bytes;
  uint64_t peak = bytes;
  uint64_t peak_ns = from_ns;
  size_t next = 0;
  for (size_t i = 0; i < steps; ++i) {
    const TimelineStep& step = timeline.steps[i];
    uint64_t most = bytes;
    uint64_t allocated = 0;
    uint64_t freed = 0;
    for (; next < oracle.points.size() && (oracle.points[next].at <= step.end || i + 1 == steps);
         ++next) {
      bytes = oracle.points[next].bytes;
      if (bytes > peak) {
        peak = bytes;
        peak_ns = oracle.points[next].time_ns;
      }
      most = std::max(most, bytes);
      allocated += oracle.points[next].allocated;
      freed += oracle.points[next].freed;
    }
    ASSERT_EQ(step.live_bytes, bytes) << i;
    ASSERT_EQ(step.most_bytes, most) << i;
    ASSERT_LE(step.least_bytes, step.live_bytes) << i;
    ASSERT_EQ(step.allocated_bytes, allocated) << i;
    ASSERT_EQ(step.freed_bytes, freed) << i;
  }
  EXPECT_EQ(timeline.peak.bytes, peak);
  EXPECT_EQ(timeline.peak.time_ns, peak_ns);
  EXPECT_GE(timeline.peak.at, timeline.from);
  EXPECT_LE(timeline.peak.at, timeline.to);
}

TEST(TraceTimeline, IsWhatTheEventsSayOnEveryAxis) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    MakeTrace made;
    RandomTrace how;
    how.seed = seed;
    how.events = 3000;
    AddRandomEvents(how, &made);
    const auto trace = made.Open();
    const uint64_t end = made.end_ns();
    for (const TimeAxis axis : {TimeAxis::kTime, TimeAxis::kBytes, TimeAxis::kEvents}) {
      // Few steps take whole segments, many take none.
      for (const size_t steps : {1, 3, 40, 1000}) {
        Compare(made, *trace, axis, 0, end, steps);
        Compare(made, *trace, axis, end / 3, end / 2, steps);
      }
    }
    Compare(made, *trace, TimeAxis::kTime, end / 2, end / 2 + 1, 5);
  }
}

TEST(TraceTimeline, OfSomeBlocksIsWhatTheirEventsSay) {
  MakeTrace made;
  RandomTrace how;
  how.events = 3000;
  AddRandomEvents(how, &made);
  const auto trace = made.Open();
  const uint64_t end = made.end_ns();
  std::vector<Selection> selections(9);
  selections[0].filter.least_size = 20'000;
  selections[1].filter.threads = {1001};
  selections[2].filter.least_lifetime_ns = end / 50;
  selections[3].filter.freed = false;
  selections[4].filter.temporary_within = 0;
  selections[5].filter.function = "caller_3";
  selections[6].filter.mappings = true;
  selections[7].filter.live_at = {TraceMoment::At(end / 2)};
  selections[8].rows = {"caller_[12]$", "leaf_1$"};
  selections[8].filter.by_realloc = true;
  for (const Selection& selection : selections) {
    SCOPED_TRACE(selection.Text());
    for (const size_t steps : {1, 40}) {
      Compare(made, *trace, TimeAxis::kTime, 0, end, steps, selection);
      Compare(made, *trace, TimeAxis::kTime, end / 3, end / 2, steps, selection);
    }
  }
}

TEST(TraceTimeline, BandsAndLanesOfSomeBlocksHaveOnlyThese) {
  const MakeTrace made = TwelveStacks();
  const auto trace = made.Open();
  Selection selection;
  selection.filter.function = "caller_2";
  selection.filter.least_lifetime_ns = 5000;
  TimelineRequest request;
  request.steps = 50;
  request.bands = 100;
  request.lanes = 2;
  request.counts = *SelectBlocks(*trace, **trace->ReadStacks(), selection);
  const auto read = ReadTraceTimeline(*trace, request);
  ASSERT_TRUE(read);
  const Timeline& timeline = read->timeline;
  ASSERT_FALSE(timeline.bands.empty());
  uint64_t at_peak = 0;
  for (const Timeline::Band& band : timeline.bands) at_peak += band.peak_bytes;
  EXPECT_EQ(at_peak, timeline.peak.bytes);
  uint64_t allocated = 0;
  uint64_t freed = 0;
  for (const Timeline::Lane& lane : timeline.lanes) {
    for (const uint64_t bytes : lane.allocated_bytes) allocated += bytes;
    for (const uint64_t bytes : lane.freed_bytes) freed += bytes;
  }
  EXPECT_EQ(allocated, timeline.sum.allocated_bytes);
  EXPECT_EQ(freed, timeline.sum.freed_bytes);
  EXPECT_GT(freed, 0u);
}

TEST(TraceTimeline, FindsAPeakThatIsNeverFreed) {
  MakeTrace made;
  const uint32_t stack = made.Stack({"f", "main"});
  for (uint64_t i = 1; i <= 500; ++i) made.Allocate(i * 1000, 0, 10, stack);
  TimelineRequest request;
  request.steps = 7;
  const auto read = ReadTraceTimeline(*made.Open(), request);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->timeline.peak.bytes, 5000u);
  EXPECT_EQ(read->timeline.peak.blocks, 500u);
  EXPECT_EQ(read->timeline.peak.time_ns, 500'000u);
  EXPECT_EQ(read->timeline.last.bytes, 5000u);
}

TEST(TraceTimeline, FindsAPeakBetweenTwoFreesOnEachAxis) {
  MakeTrace made;
  const uint32_t stack = made.Stack({"f", "main"});
  uint64_t now = 0;
  const auto block = [&](uint64_t size) { return made.Allocate(++now, 0, size, stack); };
  const auto some_that_go = [&] {
    for (int i = 0; i < 200; ++i) {
      const uint64_t born = block(10);
      made.Free(++now, born);
    }
  };
  some_that_go();
  const uint64_t one = block(100);
  const uint64_t two = block(1);  // the peak: 101 for one event
  const uint64_t peak_ns = now;
  made.Free(++now, one);
  made.Free(++now, two);
  some_that_go();
  for (const auto& [axis, at] : std::vector<std::pair<TimeAxis, uint64_t>>{
           {TimeAxis::kTime, peak_ns}, {TimeAxis::kEvents, 402}, {TimeAxis::kBytes, 4101}}) {
    TimelineRequest request;
    request.axis = axis;
    request.steps = 3;
    const auto read = ReadTraceTimeline(*made.Open(), request);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->timeline.peak.bytes, 101u);
    EXPECT_EQ(read->timeline.peak.blocks, 2u);
    EXPECT_EQ(read->timeline.peak.at, at) << TimeAxisName(axis);
    EXPECT_EQ(read->timeline.peak.time_ns, peak_ns);
  }
}

TEST(TraceTimeline, FollowsTheStacksThatWereLargestAtThePeak) {
  const MakeTrace made = TwelveStacks();
  const auto trace = made.Open();
  for (const size_t steps : {2, 300}) {
    TimelineRequest request;
    request.steps = steps;
    request.bands = 3;
    const auto read = ReadTraceTimeline(*trace, request);
    ASSERT_TRUE(read);
    ASSERT_EQ(read->stacks.size(), 3u);
    // The slow way.
    const uint64_t peak_ns = made.Peak().second;
    std::map<uint32_t, uint64_t> live;
    uint64_t sum = 0;
    for (const auto& event : made.events()) {
      const auto size = [&](uint64_t b) {
        return made.blocks()[b].is_mapping ? 0 : made.blocks()[b].size;
      };
      if (event.died != kNoBlock) {
        live[made.blocks()[event.died].stack] -= size(event.died);
        sum -= size(event.died);
      }
      if (event.born != kNoBlock) {
        live[made.blocks()[event.born].stack] += size(event.born);
        sum += size(event.born);
      }
      if (event.time_ns == peak_ns && sum == made.Peak().first) break;
    }
    std::vector<uint64_t> largest;
    for (const auto& [stack, bytes] : live) largest.push_back(bytes);
    std::sort(largest.rbegin(), largest.rend());
    for (size_t i = 0; i < 3; ++i) {
      const Timeline::Band& band = read->timeline.bands[i];
      EXPECT_EQ(band.peak_bytes, largest[i]);
      ASSERT_EQ(band.most.size(), steps);
      EXPECT_GE(*std::max_element(band.most.begin(), band.most.end()), band.peak_bytes);
      // With many steps nothing is taken from sums: exact at the end of each.
      if (steps == 300) {
        for (size_t s = 0; s < steps; s += 37) {
          uint64_t at_end = 0;
          for (const Block& b : made.blocks()) {
            if (b.stack == read->stacks[i] && !b.is_mapping &&
                made.IsLiveAt(b, read->timeline.steps[s].end)) {
              at_end += b.size;
            }
          }
          EXPECT_GE(band.most[s], at_end);
        }
      }
    }
  }
}

TEST(TraceTimeline, HasMemoryAndMarkersWhereTheyBelong) {
  MakeTrace made;
  const uint32_t stack = made.Stack({"f", "main"});
  made.Memory(0, 1000);
  made.Memory(50, 5000);
  made.Mark(60, "loaded");
  for (uint64_t i = 1; i <= 100; ++i) made.Allocate(i, 0, 10, stack);
  TimelineRequest request;
  request.steps = 10;
  auto read = ReadTraceTimeline(*made.Open(), request);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->timeline.steps[0].resident_bytes, 1000u);
  EXPECT_EQ(read->timeline.steps[3].resident_bytes, 1000u);
  EXPECT_EQ(read->timeline.steps[4].resident_bytes, 5000u);
  EXPECT_EQ(read->timeline.steps[9].resident_bytes, 5000u);
  EXPECT_EQ(read->timeline.sum.resident_bytes, 5000u);
  ASSERT_EQ(read->timeline.markers.size(), 1u);
  EXPECT_EQ(read->timeline.markers[0].at, 60u);
  request.axis = TimeAxis::kBytes;
  read = ReadTraceTimeline(*made.Open(), request);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->timeline.markers[0].at, 600u);
}

TEST(TraceTimeline, OfATraceWithoutEventsIsFlat) {
  MakeTrace made;
  made.facts.recording.duration_ns = 1000;
  TimelineRequest request;
  request.steps = 4;
  request.bands = 2;
  for (const TimeAxis axis : {TimeAxis::kTime, TimeAxis::kBytes, TimeAxis::kEvents}) {
    request.axis = axis;
    const auto read = ReadTraceTimeline(*made.Open(), request);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->timeline.steps.size(), 4u);
    EXPECT_EQ(read->timeline.peak.bytes, 0u);
    EXPECT_TRUE(read->timeline.bands.empty());
  }
}

}  // namespace
}  // namespace heapgauge::trace
