// Compares a trace that was read with the one that was made. Not for use outside of tests.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "core/trace/answer/trace_moment.h"
#include "core/trace/testing/make_trace.h"

namespace heapgauge::trace::testing {

// What a block looks like in a segment that was read with `parts`.
inline Block Expected(Block block, uint32_t parts) {
  if ((parts & kAddresses) == 0) block.address = 0;
  if ((parts & kDetails) == 0) block.slack = block.function = block.alignment_log2 = 0;
  return block;
}

inline void ExpectSame(const Block& a, const Block& b) {
  EXPECT_EQ(a.number, b.number);
  EXPECT_EQ(a.birth_ns, b.birth_ns) << a.number;
  EXPECT_EQ(a.death_ns, b.death_ns) << a.number;
  EXPECT_EQ(a.address, b.address) << a.number;
  EXPECT_EQ(a.size, b.size) << a.number;
  EXPECT_EQ(a.previous, b.previous) << a.number;
  EXPECT_EQ(a.stack, b.stack) << a.number;
  EXPECT_EQ(a.thread, b.thread) << a.number;
  EXPECT_EQ(a.death_thread, b.death_thread) << a.number;
  EXPECT_EQ(a.distance, b.distance) << a.number;
  EXPECT_EQ(a.slack, b.slack) << a.number;
  EXPECT_EQ(a.function, b.function) << a.number;
  EXPECT_EQ(a.alignment_log2, b.alignment_log2) << a.number;
  EXPECT_EQ(a.is_mapping, b.is_mapping) << a.number;
  EXPECT_EQ(a.resized_away, b.resized_away) << a.number;
}

// Reads the whole trace with these parts and compares it with what was made.
inline void ExpectSameTrace(const MakeTrace& made, const TraceFile& trace, uint32_t parts) {
  const bool events = (parts & kEvents) != 0;
  const bool with_old = events || (parts & kOldBlocks) != 0;
  const bool with_new = events || (parts & kNewBlocks) != 0;
  size_t event = 0;
  Segment segment;
  for (size_t s = 0; s < trace.segments().size(); ++s) {
    const Status status = trace.ReadSegment(s, parts, &segment);
    ASSERT_TRUE(status) << status.error().message;
    const SegmentInfo& info = trace.segments()[s];
    ASSERT_EQ(info.first_event, event);
    // What is expected, from the events.
    std::vector<Block> old_blocks;
    std::map<uint64_t, bool> dies_here;
    const size_t end = event + info.events;
    ASSERT_LE(end, made.events().size());
    for (size_t i = event; i < end; ++i) {
      const MakeTrace::Happening& h = made.events()[i];
      if (h.died == kNoBlock) continue;
      dies_here[h.died] = true;
      if (h.died < info.first_block) old_blocks.push_back(made.blocks()[h.died]);
    }
    std::vector<Block> expected;
    if (with_old) expected = old_blocks;
    for (uint64_t n = info.first_block; with_new && n < info.first_block + info.births; ++n) {
      Block block = made.blocks()[n];
      if (!dies_here.contains(n)) {
        block.death_ns = kNever;
        block.death_thread = kNoIndex;
        block.distance = kForeign;
        block.resized_away = false;
      }
      expected.push_back(block);
    }
    ASSERT_EQ(segment.blocks.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      ExpectSame(segment.blocks[i], Expected(expected[i], parts));
      if (::testing::Test::HasFailure()) return;
    }
    ASSERT_EQ(segment.events.size(), events ? info.events : 0);
    for (size_t i = 0; i < segment.events.size(); ++i) {
      const MakeTrace::Happening& h = made.events()[event + i];
      const Event& e = segment.events[i];
      EXPECT_EQ(e.time_ns, h.time_ns);
      EXPECT_EQ(e.born == kNoIndex ? kNoBlock : segment.blocks[e.born].number, h.born);
      EXPECT_EQ(e.died == kNoIndex ? kNoBlock : segment.blocks[e.died].number, h.died);
    }
    event = end;
  }
  EXPECT_EQ(event, made.events().size());
}

// The sums of each segment against those of the blocks.
inline void ExpectSameSums(const MakeTrace& made, const TraceFile& trace) {
  std::vector<StackSums> sums;
  for (size_t s = 0; s < trace.segments().size(); ++s) {
    const SegmentInfo& info = trace.segments()[s];
    std::map<std::pair<uint32_t, bool>, StackSums> expected;
    for (size_t i = info.first_event; i < info.first_event + info.events; ++i) {
      const MakeTrace::Happening& h = made.events()[i];
      if (h.born != kNoBlock) {
        const Block& b = made.blocks()[h.born];
        StackSums& e = expected[{b.stack, b.is_mapping}];
        ++e.allocated_blocks;
        e.allocated_bytes += b.size;
      }
      if (h.died != kNoBlock) {
        const Block& b = made.blocks()[h.died];
        StackSums& e = expected[{b.stack, b.is_mapping}];
        ++e.freed_blocks;
        e.freed_bytes += b.size;
        if (b.distance == 0) {
          ++e.temporary_blocks;
          e.temporary_bytes += b.size;
        }
        e.lifetime_byte_ns += static_cast<double>(b.size) * static_cast<double>(b.lifetime_ns(0));
      }
    }
    const Status status = trace.ReadSums(s, &sums);
    ASSERT_TRUE(status) << status.error().message;
    ASSERT_EQ(sums.size(), expected.size());
    size_t i = 0;
    for (const auto& [key, e] : expected) {
      const StackSums& got = sums[i++];
      EXPECT_EQ(got.stack, key.first);
      EXPECT_EQ(got.is_mapping, key.second);
      EXPECT_EQ(got.allocated_blocks, e.allocated_blocks);
      EXPECT_EQ(got.allocated_bytes, e.allocated_bytes);
      EXPECT_EQ(got.freed_blocks, e.freed_blocks);
      EXPECT_EQ(got.freed_bytes, e.freed_bytes);
      EXPECT_EQ(got.temporary_blocks, e.temporary_blocks);
      EXPECT_EQ(got.temporary_bytes, e.temporary_bytes);
      EXPECT_NEAR(got.lifetime_byte_ns, e.lifetime_byte_ns, e.lifetime_byte_ns * 1e-6);
    }
  }
}

inline void ExpectSameSurvivors(const MakeTrace& made, const TraceFile& trace) {
  std::vector<Block> survivors;
  const Status status =
      trace.ForEachSurvivor([&](const Block& block) { survivors.push_back(block); });
  ASSERT_TRUE(status) << status.error().message;
  size_t i = 0;
  for (const Block& block : made.blocks()) {
    if (!block.is_live()) continue;
    ASSERT_LT(i, survivors.size());
    ExpectSame(survivors[i++], block);
  }
  EXPECT_EQ(i, survivors.size());
}

inline void ExpectAllSame(const MakeTrace& made, const TraceFile& trace) {
  EXPECT_EQ(trace.events(), made.events().size());
  EXPECT_EQ(trace.blocks(), made.blocks().size());
  EXPECT_EQ(trace.end_ns(), made.end_ns());
  ExpectSameTrace(made, trace, kEverything);
  ExpectSameSums(made, trace);
  ExpectSameSurvivors(made, trace);
  const auto peak = PeakOf(trace, false);
  ASSERT_TRUE(peak);
  EXPECT_EQ(peak->bytes, made.Peak().first);
  if (peak->bytes != 0) {
    EXPECT_EQ(peak->time_ns, made.Peak().second);
  } else {
    EXPECT_EQ(peak->at, Position{});
  }
}

}  // namespace heapgauge::trace::testing
