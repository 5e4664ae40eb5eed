#include "core/trace/record/block_matcher.h"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

#include "core/trace/record/testing/event_list.h"

namespace heapgauge::trace {
namespace {

using testing::EventList;
using wire::TraceEventKind;

class MatchingBlocks : public ::testing::Test {
 protected:
  MatchingBlocks() : matcher_(&list_, {}) {}
  void Do(TraceEventKind kind, uint64_t time, uint64_t address, uint64_t size = 0,
          uint32_t thread = 0, uint32_t stack = 5) {
    MergedEvent event;
    event.time = time;
    event.what = wire::PackTraceWhat(kind, address);
    event.size = size;
    event.thread = thread;
    event.stack = stack;
    event.slack = 8;
    event.function = 1;
    event.alignment_log2 = 4;
    matcher_.Process({&event, 1});
  }
  void Allocate(uint64_t time, uint64_t address, uint64_t size, uint32_t thread = 0) {
    Do(TraceEventKind::kAllocate, time, address, size, thread);
  }
  void Free(uint64_t time, uint64_t address, uint32_t thread = 0) {
    Do(TraceEventKind::kFree, time, address, 0, thread);
  }
  std::vector<Block> Survivors() {
    matcher_.Finish();
    std::vector<Block> blocks;
    matcher_.ForEachSurvivor([&](const Block& block) { blocks.push_back(block); });
    return blocks;
  }

  EventList list_;
  BlockMatcher matcher_;
};

TEST_F(MatchingBlocks, AFreeTellsAllThatIsKnownOfItsBlock) {
  Allocate(10, 0x1000, 64, 3);
  Free(30, 0x1000, 4);
  ASSERT_EQ(list_.Text(), "a0 f0");
  const Block& block = list_.events[1].old;
  EXPECT_EQ(block.birth_ns, 10U);
  EXPECT_EQ(block.death_ns, 30U);
  EXPECT_EQ(block.address, 0x1000U);
  EXPECT_EQ(block.size, 64U);
  EXPECT_EQ(block.stack, 5U);
  EXPECT_EQ(block.thread, 3U);
  EXPECT_EQ(block.death_thread, 4U);
  EXPECT_EQ(block.distance, kForeign);
  EXPECT_EQ(block.slack, 8U);
  EXPECT_EQ(block.function, 1U);
  EXPECT_EQ(block.alignment_log2, 4U);
  EXPECT_FALSE(block.is_mapping);
  EXPECT_FALSE(block.resized_away);
}

TEST_F(MatchingBlocks, DistanceCountsTheAllocationsOfTheOwnThread) {
  Allocate(1, 0x1000, 1);
  Allocate(2, 0x2000, 1);
  Allocate(3, 0x3000, 1, /*thread=*/1);
  Free(4, 0x2000);
  Allocate(5, 0x2000, 1);
  Free(6, 0x1000);
  EXPECT_EQ(list_.events[3].old.distance, 0U);  // nothing between
  EXPECT_EQ(list_.events[5].old.distance, 2U);
}

TEST_F(MatchingBlocks, ReallocIsOneEventAndNamesTheBlockBefore) {
  Allocate(1, 0x1000, 10);
  Do(TraceEventKind::kResizeBegin, 2, 0x1000);
  Do(TraceEventKind::kResizeEnd, 3, 0x2000, 20);
  ASSERT_EQ(list_.Text(), "a0 r0>1");
  EXPECT_TRUE(list_.events[1].old.resized_away);
  EXPECT_EQ(list_.events[1].old.death_ns, 3U);
  EXPECT_EQ(list_.events[1].old.distance, 0U);
  EXPECT_EQ(list_.events[1].block.previous, 0U);
  EXPECT_EQ(list_.events[1].block.size, 20U);
  Free(4, 0x2000);
  EXPECT_EQ(list_.events[2].old.previous, 0U);
}

TEST_F(MatchingBlocks, ReallocInPlaceKeepsTheAddress) {
  Allocate(1, 0x1000, 10);
  Do(TraceEventKind::kResizeBegin, 2, 0x1000);
  Do(TraceEventKind::kResizeEnd, 3, 0x1000, 20);
  Free(4, 0x1000);
  EXPECT_EQ(list_.Text(), "a0 r0>1 f1");
  EXPECT_EQ(matcher_.counts().missed_frees, 0U);
}

TEST_F(MatchingBlocks, AnotherThreadMayGetTheAddressBeforeReallocComesBack) {
  Allocate(1, 0x1000, 10);
  Do(TraceEventKind::kResizeBegin, 2, 0x1000);
  Allocate(3, 0x1000, 30, /*thread=*/1);
  Do(TraceEventKind::kResizeEnd, 4, 0x2000, 20);
  Free(5, 0x1000, 1);
  EXPECT_EQ(list_.Text(), "a0 a1 r0>2 f1");
  EXPECT_EQ(matcher_.counts().missed_frees, 0U);
}

TEST_F(MatchingBlocks, AFailedReallocChangesNothing) {
  Allocate(1, 0x1000, 10);
  Do(TraceEventKind::kResizeBegin, 2, 0x1000);
  Do(TraceEventKind::kResizeFailed, 3, 0x1000);
  Free(4, 0x1000);
  EXPECT_EQ(list_.Text(), "a0 f0");
}

TEST_F(MatchingBlocks, ReallocThatNeverCameBackLeavesItsBlockLive) {
  Allocate(1, 0x1000, 10);
  Do(TraceEventKind::kResizeBegin, 2, 0x1000);
  const auto survivors = Survivors();
  ASSERT_EQ(survivors.size(), 1U);
  EXPECT_EQ(survivors[0].number, 0U);
}

TEST_F(MatchingBlocks, ReallocWithinAHandlerWithinRealloc) {
  Allocate(1, 0x1000, 10);
  Allocate(2, 0x2000, 10);
  Do(TraceEventKind::kResizeBegin, 3, 0x1000);
  Do(TraceEventKind::kResizeBegin, 4, 0x2000);
  Do(TraceEventKind::kResizeEnd, 5, 0x2100, 20);
  Do(TraceEventKind::kResizeEnd, 6, 0x1100, 20);
  EXPECT_EQ(list_.Text(), "a0 a1 r1>2 r0>3");
}

TEST_F(MatchingBlocks, AnUnknownFreeIsCountedAndDropped) {
  Free(1, 0x1000);
  Do(TraceEventKind::kResizeBegin, 2, 0x2000);
  Do(TraceEventKind::kResizeEnd, 3, 0x3000, 20);
  EXPECT_EQ(list_.Text(), "a0");
  EXPECT_EQ(matcher_.counts().unknown_frees, 2U);
}

TEST_F(MatchingBlocks, ALiveAddressThatIsHandedOutAgainWasFreedUnseen) {
  Allocate(1, 0x1000, 10);
  Allocate(7, 0x1000, 20);
  matcher_.Settle();
  ASSERT_EQ(list_.Text(), "a0 f0 a1");
  EXPECT_EQ(list_.events[1].old.death_ns, 7U);
  EXPECT_EQ(list_.events[1].old.death_thread, kNoIndex);
  EXPECT_EQ(matcher_.counts().missed_frees, 1U);
}

TEST_F(MatchingBlocks, AnAllocationThatIsStampedTooEarlyComesAfterTheFreeThatMadeRoom) {
  Allocate(100, 0x1000, 10, /*thread=*/1);
  Allocate(150, 0x1000, 20, /*thread=*/2);
  EXPECT_EQ(list_.Text(), "a0");
  Free(180, 0x1000, /*thread=*/1);
  ASSERT_EQ(list_.Text(), "a0 f0 a1");
  EXPECT_EQ(list_.events[1].old.death_thread, 1U);
  EXPECT_EQ(list_.events[2].block.birth_ns, 180U);
  EXPECT_EQ(list_.events[2].block.thread, 2U);
  const auto survivors = Survivors();
  ASSERT_EQ(survivors.size(), 1U);
  EXPECT_EQ(survivors[0].size, 20U);
  EXPECT_EQ(matcher_.counts().missed_frees, 0U);
}

TEST_F(MatchingBlocks, AnAllocationMayBeStampedBeforeTheReallocThatMadeRoom) {
  Allocate(100, 0x1000, 10, /*thread=*/1);
  Allocate(150, 0x1000, 20, /*thread=*/2);
  Do(TraceEventKind::kResizeBegin, 160, 0x1000, 0, /*thread=*/1);
  Do(TraceEventKind::kResizeEnd, 190, 0x3000, 30, /*thread=*/1);
  EXPECT_EQ(list_.Text(), "a0 a1 r0>2");
  EXPECT_EQ(matcher_.counts().missed_frees, 0U);
}

TEST_F(MatchingBlocks, SeveralAllocationsMayWaitForTheirTurnAtAnAddress) {
  Allocate(100, 0x1000, 10, /*thread=*/1);
  Allocate(150, 0x1000, 20, /*thread=*/2);
  Allocate(155, 0x1000, 30, /*thread=*/3);
  Free(160, 0x1000, /*thread=*/1);
  Free(170, 0x1000, /*thread=*/4);
  EXPECT_EQ(list_.Text(), "a0 f0 a1 f1 a2");
  EXPECT_EQ(Survivors().size(), 1U);
  EXPECT_EQ(matcher_.counts().missed_frees + matcher_.counts().unknown_frees, 0U);
}

TEST_F(MatchingBlocks, AnAllocationDoesNotWaitForWhatItsOwnThreadDoesNext) {
  Allocate(100, 0x1000, 10, /*thread=*/1);
  Allocate(150, 0x1000, 20, /*thread=*/2);
  Free(200, 0x1000, /*thread=*/2);
  EXPECT_EQ(list_.Text(), "a0 f0 a1 f1");
  Allocate(300, 0x2000, 10, /*thread=*/1);
  Allocate(350, 0x2000, 20, /*thread=*/2);
  Do(TraceEventKind::kResizeBegin, 360, 0x2000, 0, /*thread=*/2);
  Do(TraceEventKind::kResizeEnd, 390, 0x3000, 30, /*thread=*/2);
  EXPECT_EQ(list_.Text(), "a0 f0 a1 f1 a2 f2 a3 r3>4");
  EXPECT_EQ(matcher_.counts().missed_frees, 2U);
}

TEST_F(MatchingBlocks, NoAllocationWaitsForLong) {
  Allocate(200, 0x2000, 10);
  Allocate(300, 0x2000, 20, /*thread=*/1);
  Allocate(300 + EarlyBirths::kMostEarlyNs, 0x3000, 10);
  EXPECT_EQ(list_.Text(), "a0 a1");
  Allocate(301 + EarlyBirths::kMostEarlyNs, 0x4000, 10);
  ASSERT_EQ(list_.Text(), "a0 a1 f0 a2 a3");
  EXPECT_EQ(list_.events[3].block.birth_ns, 301 + EarlyBirths::kMostEarlyNs);
  EXPECT_EQ(matcher_.counts().missed_frees, 1U);
}

TEST_F(MatchingBlocks, NotManyAllocationsWait) {
  for (uint64_t i = 0; i <= EarlyBirths::kMost; ++i) Allocate(10, 0x10000 + i * 0x10, 1);
  for (uint64_t i = 0; i <= EarlyBirths::kMost; ++i) Allocate(20, 0x10000 + i * 0x10, 1, 1);
  EXPECT_EQ(matcher_.counts().missed_frees, 1U);
  EXPECT_EQ(Survivors().size(), EarlyBirths::kMost + 1);
  EXPECT_EQ(matcher_.counts().missed_frees, EarlyBirths::kMost + 1);
}

TEST_F(MatchingBlocks, AMappingAndABlockMayShareAnAddress) {
  Do(TraceEventKind::kMap, 1, 0x10000, 0x4000);
  Allocate(2, 0x10000, 100);
  Free(3, 0x10000);
  Do(TraceEventKind::kUnmap, 4, 0x10000, 0x4000);
  ASSERT_EQ(list_.Text(), "a0 a1 f1 f0");
  EXPECT_TRUE(list_.events[3].old.is_mapping);
  EXPECT_EQ(list_.PeakBytes(), 100U);
}

TEST_F(MatchingBlocks, UnmappingTheMiddleLeavesBothEnds) {
  Do(TraceEventKind::kMap, 1, 0x10000, 0x4000, 2);
  Do(TraceEventKind::kUnmap, 2, 0x11000, 0x1000, 3, /*stack=*/9);
  EXPECT_EQ(list_.Text(), "a0 r0>1 a2");
  const auto survivors = Survivors();
  ASSERT_EQ(survivors.size(), 2U);
  EXPECT_EQ(survivors[0].address, 0x10000U);
  EXPECT_EQ(survivors[0].size, 0x1000U);
  EXPECT_EQ(survivors[0].previous, 0U);
  EXPECT_EQ(survivors[1].address, 0x12000U);
  EXPECT_EQ(survivors[1].size, 0x2000U);
  EXPECT_EQ(survivors[1].previous, 0U);
  for (const Block& block : survivors) {
    EXPECT_TRUE(block.is_mapping);
    EXPECT_EQ(block.stack, 5U);
    EXPECT_EQ(block.thread, 2U);
    EXPECT_EQ(block.birth_ns, 2U);
  }
}

TEST_F(MatchingBlocks, CuttingAMappingNeverMakesMoreLive) {
  Do(TraceEventKind::kMap, 1, 0x10000, 0x10000);
  Do(TraceEventKind::kUnmap, 2, 0x18000, 0x1000);
  Do(TraceEventKind::kMap, 3, 0x12000, 0x1000);  // on top
  EXPECT_EQ(list_.Text(), "a0 r0>1 a2 r1>3 a4 a5");
  EXPECT_EQ(list_.MappedPeakBytes(), 0x10000U);
}

TEST_F(MatchingBlocks, OneMunmapMayTakeSeveralMappings) {
  Do(TraceEventKind::kMap, 1, 0x10000, 0x1000);
  Do(TraceEventKind::kMap, 2, 0x11000, 0x1000);
  Do(TraceEventKind::kMap, 3, 0x13000, 0x2000);
  Do(TraceEventKind::kUnmap, 4, 0x10000, 0x4000);
  EXPECT_EQ(list_.Text(), "a0 a1 a2 f0 f1 r2>3");
  const auto survivors = Survivors();
  ASSERT_EQ(survivors.size(), 1U);
  EXPECT_EQ(survivors[0].address, 0x14000U);
}

TEST_F(MatchingBlocks, AFixedMappingTakesAwayWhatIsThere) {
  Do(TraceEventKind::kMap, 1, 0x10000, 0x3000);
  Do(TraceEventKind::kMap, 2, 0x10000, 0x1000);
  EXPECT_EQ(list_.Text(), "a0 r0>1 a2");
}

TEST_F(MatchingBlocks, SizesBeyondTheAddressSpaceAreNoMapping) {
  Do(TraceEventKind::kMap, 1, 0x10000, UINT64_MAX);
  Do(TraceEventKind::kUnmap, 2, 0x10000, UINT64_MAX - 5);
  Do(TraceEventKind::kMap, 3, 0x10000, 0);
  EXPECT_EQ(list_.Text(), "");
}

TEST_F(MatchingBlocks, AgreesWithASimpleModelOverRandomCalls) {
  std::mt19937_64 random(11);
  std::unordered_map<uint64_t, uint64_t> live;  // address to number
  std::vector<MergedEvent> events;
  std::vector<uint64_t> freed;
  uint64_t number = 0;
  uint64_t bytes = 0;
  uint64_t peak = 0;
  std::unordered_map<uint64_t, uint64_t> sizes;
  for (uint64_t time = 1; time < 100'000; ++time) {
    const uint64_t address = (1 + random() % 5000) * 16;
    MergedEvent event;
    event.time = time;
    event.thread = static_cast<uint32_t>(random() % 3);
    if (const auto it = live.find(address); it != live.end()) {
      event.what = wire::PackTraceWhat(TraceEventKind::kFree, address);
      freed.push_back(it->second);
      bytes -= sizes[address];
      live.erase(it);
    } else {
      event.what = wire::PackTraceWhat(TraceEventKind::kAllocate, address);
      event.size = random() % 1000;
      sizes[address] = event.size;
      bytes += event.size;
      peak = std::max(peak, bytes);
      live[address] = number++;
    }
    events.push_back(event);
  }
  matcher_.Process(events);
  std::vector<uint64_t> got;
  for (const auto& event : list_.events) {
    if (event.kind == 'f') got.push_back(event.old.number);
  }
  EXPECT_EQ(got, freed);
  EXPECT_EQ(list_.PeakBytes(), peak);
  EXPECT_EQ(list_.LiveBytes(), bytes);
  const auto survivors = Survivors();
  EXPECT_EQ(survivors.size(), live.size());
  for (size_t i = 1; i < survivors.size(); ++i) {
    ASSERT_LT(survivors[i - 1].number, survivors[i].number);
  }
}

}  // namespace
}  // namespace heapgauge::trace
