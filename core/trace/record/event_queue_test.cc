#include "core/trace/record/event_queue.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "core/trace/record/block_matcher.h"
#include "core/trace/record/testing/event_list.h"

namespace heapgauge::trace {
namespace {

using testing::EventList;
using wire::TraceEventKind;

class Culling : public ::testing::Test {
 protected:
  explicit Culling(size_t most_held = 1000) : matcher_(&list_, {100, most_held}) {}
  void Do(TraceEventKind kind, uint64_t time, uint64_t address, uint64_t size = 0) {
    MergedEvent event;
    event.time = time;
    event.what = wire::PackTraceWhat(kind, address);
    event.size = size;
    matcher_.Process({&event, 1});
  }
  void Allocate(uint64_t time, uint64_t address, uint64_t size = 10) {
    Do(TraceEventKind::kAllocate, time, address, size);
  }
  void Free(uint64_t time, uint64_t address) { Do(TraceEventKind::kFree, time, address); }

  EventList list_;
  BlockMatcher matcher_;
};

TEST_F(Culling, BlocksThatDieYoungLeaveNothing) {
  Allocate(1, 0x1000);
  Allocate(2, 0x2000, 30);
  Free(50, 0x2000);
  Free(101, 0x1000);  // old enough by a hair
  matcher_.Finish();
  EXPECT_EQ(list_.Text(), "a0 f0");
  EXPECT_EQ(matcher_.culled().blocks, 1U);
  EXPECT_EQ(matcher_.culled().bytes, 30U);
  EXPECT_EQ(list_.PeakBytes(), 10U);
}

TEST_F(Culling, OneNanosecondDecides) {
  Allocate(1, 0x1000);
  Free(100, 0x1000);
  matcher_.Finish();
  EXPECT_EQ(list_.Text(), "");
}

TEST_F(Culling, EventsComeInOrderOfTimeAndNumbersAreDense) {
  Allocate(1, 0x1000);
  Allocate(150, 0x2000);
  Free(160, 0x1000);
  Allocate(170, 0x3000);
  Free(180, 0x2000);
  matcher_.Advance(1000);
  Free(2000, 0x3000);
  matcher_.Finish();
  EXPECT_EQ(list_.Text(), "a0 f0 a1 f1");
  EXPECT_EQ(list_.events[2].block.address, 0x3000U);
}

TEST_F(Culling, TimeThatPassesLetsEventsGo) {
  Allocate(1, 0x1000);
  matcher_.Advance(100);
  EXPECT_EQ(list_.Text(), "");
  matcher_.Advance(101);
  EXPECT_EQ(list_.Text(), "a0");
}

TEST_F(Culling, AYoungBlockThatReallocMovesIsForgotten) {
  Allocate(1, 0x1000);
  Do(TraceEventKind::kResizeBegin, 10, 0x1000);
  Do(TraceEventKind::kResizeEnd, 11, 0x2000, 20);
  matcher_.Finish();
  ASSERT_EQ(list_.Text(), "a0");
  EXPECT_EQ(list_.events[0].block.size, 20U);
  EXPECT_EQ(list_.events[0].block.previous, kNoBlock);
}

TEST_F(Culling, AnOldBlockIsFreedWhereReallocMadeAYoungOneOfIt) {
  Allocate(1, 0x1000);
  Do(TraceEventKind::kResizeBegin, 500, 0x1000);
  Do(TraceEventKind::kResizeEnd, 501, 0x2000, 20);
  Free(510, 0x2000);
  matcher_.Finish();
  ASSERT_EQ(list_.Text(), "a0 f0");
  EXPECT_FALSE(list_.events[1].old.resized_away);
  EXPECT_EQ(list_.events[1].old.death_ns, 501U);
}

TEST_F(Culling, AYoungMappingCutInTheMiddle) {
  Do(TraceEventKind::kMap, 1, 0x10000, 0x3000);
  Do(TraceEventKind::kUnmap, 2, 0x11000, 0x1000);
  matcher_.Finish();
  ASSERT_EQ(list_.Text(), "a0 a1");
  EXPECT_EQ(list_.events[0].block.previous, kNoBlock);
}

TEST_F(Culling, AnOldMappingCutInTheMiddle) {
  Do(TraceEventKind::kMap, 1, 0x10000, 0x3000);
  Do(TraceEventKind::kUnmap, 500, 0x11000, 0x1000);
  matcher_.Finish();
  ASSERT_EQ(list_.Text(), "a0 r0>1 a2");
  EXPECT_EQ(list_.events[1].block.previous, 0U);
  EXPECT_EQ(list_.events[2].block.previous, 0U);
  EXPECT_EQ(list_.MappedPeakBytes(), 0x3000U);
}

TEST_F(Culling, APieceOfAnOldMappingThatDiesYoung) {
  Do(TraceEventKind::kMap, 1, 0x10000, 0x3000);
  Do(TraceEventKind::kUnmap, 500, 0x11000, 0x1000);
  Do(TraceEventKind::kUnmap, 510, 0x10000, 0x1000);
  matcher_.Finish();
  ASSERT_EQ(list_.Text(), "a0 f0 a1");
  EXPECT_EQ(list_.events[1].old.death_ns, 500U);
  EXPECT_EQ(list_.events[2].block.address, 0x12000U);
  EXPECT_EQ(list_.events[2].block.previous, 0U);
}

TEST_F(Culling, ABlockInThePlaceOfAPieceHasNoPreviousOne) {
  Do(TraceEventKind::kMap, 1, 0x10000, 0x3000);
  Do(TraceEventKind::kUnmap, 500, 0x11000, 0x1000);
  Do(TraceEventKind::kUnmap, 510, 0x12000, 0x1000);  // its slot is the next to be taken
  Allocate(520, 0x1000);
  Do(TraceEventKind::kResizeBegin, 521, 0x1000);
  Do(TraceEventKind::kResizeEnd, 522, 0x2000, 20);
  matcher_.Finish();
  ASSERT_EQ(list_.Text(), "a0 r0>1 a2");
  EXPECT_EQ(list_.events[2].block.previous, kNoBlock);
}

class CullingWithLittleRoom : public Culling {
 protected:
  CullingWithLittleRoom() : Culling(2) {}
};

TEST_F(CullingWithLittleRoom, WritesTheOldestWhenThereAreTooMany) {
  for (uint64_t i = 1; i <= 4; ++i) Allocate(i, i * 0x1000);
  Free(10, 0x1000);  // was written already
  Free(11, 0x4000);
  matcher_.Finish();
  EXPECT_EQ(list_.Text(), "a0 a1 a2 f0");
  EXPECT_EQ(matcher_.culled().blocks, 1U);
}

TEST_F(CullingWithLittleRoom, CutsAMappingWhoseBirthHadToBeWritten) {
  for (uint64_t i = 1; i <= 3; ++i) Do(TraceEventKind::kMap, i, i * 0x10000, 0x3000);
  Do(TraceEventKind::kUnmap, 10, 0x11000, 0x1000);
  Do(TraceEventKind::kUnmap, 11, 0x31000, 0x1000);
  matcher_.Finish();
  ASSERT_EQ(list_.Text(), "a0 a1 a2 r0>3 a4 r2>5 a6");
  EXPECT_EQ(list_.events[4].block.previous, 0U);
  EXPECT_EQ(list_.events[6].block.previous, 2U);
}

TEST(CullingOfMany, KeepsExactlyTheOldOnes) {
  EventList list;
  BlockMatcher matcher(&list, {1000, 1'000'000});
  std::mt19937_64 random(5);
  std::map<uint64_t, uint64_t> live;  // address to birth
  uint64_t expected = 0;
  uint64_t culled = 0;
  for (uint64_t time = 1; time < 200'000; ++time) {
    const uint64_t address = (1 + random() % 800) * 16;
    MergedEvent event;
    event.time = time;
    if (const auto it = live.find(address); it != live.end()) {
      event.what = wire::PackTraceWhat(TraceEventKind::kFree, address);
      (time - it->second < 1000 ? culled : expected) += 1;
      live.erase(it);
    } else {
      event.what = wire::PackTraceWhat(TraceEventKind::kAllocate, address);
      event.size = 8;
      live[address] = time;
    }
    matcher.Process({&event, 1});
  }
  matcher.Finish();
  uint64_t frees = 0;
  uint64_t last = 0;
  uint64_t number = 0;
  for (const auto& event : list.events) {
    const uint64_t time = event.kind == 'f' ? event.old.death_ns : event.block.birth_ns;
    ASSERT_GE(time, last);
    last = time;
    if (event.kind == 'a') {
      ASSERT_EQ(event.block.number, number++);
    }
    if (event.kind == 'f') ++frees;
  }
  EXPECT_EQ(frees, expected);
  EXPECT_EQ(number, expected + live.size());
  EXPECT_EQ(matcher.culled().blocks, culled);
}

}  // namespace
}  // namespace heapgauge::trace
