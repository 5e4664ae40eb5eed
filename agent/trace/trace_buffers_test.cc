#include "agent/trace/trace_lanes.h"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "agent/sys/thread_state.h"
#include "agent/testing/gauge_file_test.h"
#include "agent/trace/tracer.h"
#include "core/base/testing/eventually.h"

namespace heapgauge::agent {
namespace {

using Find = TraceBuffers::Find;

class TraceTest : public GaugeFileTest {
 protected:
  void SetUp() override {
    GaugeFileTest::SetUp();
    settings_.buffer_bytes = TraceSettings::kLeastBytes;
    settings_.clock = wire::TraceClock::kCycleCounter;
    settings_.patience_ns = 50'000'000;
    ASSERT_TRUE(buffers_->Start(settings_, file_->header()));
    clock_.Use(settings_.clock);
    hg_thread.lane = nullptr;
  }
  void TearDown() override {
    hg_thread.lane = nullptr;
    GaugeFileTest::TearDown();
  }

  wire::TraceControl& control() { return file_->header()->trace; }
  std::unique_ptr<TraceLane> NewLane(uint32_t token) {
    auto lane = std::make_unique<TraceLane>();
    lane->owner = token;
    lane->thread = 100 + token;
    return lane;
  }
  static void Release(wire::TraceBufferHeader* buffer) {
    std::atomic_ref(buffer->released).store(buffer->round);
  }
  void TellReleased() {
    std::atomic_ref(control().releases).fetch_add(1);
    syscall(SYS_futex, &control().releases, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
  }

  TraceSettings settings_;
  TraceClockReader clock_;
  std::unique_ptr<TraceBuffers> buffers_ = std::make_unique<TraceBuffers>();
  std::unique_ptr<LanePool> lanes_ = std::make_unique<LanePool>();
};

using TraceBuffersTest = TraceTest;
using LanePoolTest = TraceTest;

TEST_F(TraceBuffersTest, SayInTheHeaderWhatIsTraced) {
  EXPECT_EQ(control().tracing, 1u);
  EXPECT_EQ(control().max_buffers, 16u);
  EXPECT_EQ(control().clock, static_cast<uint32_t>(wire::TraceClock::kCycleCounter));
  EXPECT_EQ(control().drops, 0u);
}

TEST_F(TraceBuffersTest, ShowWhoFillsThem) {
  auto lane = NewLane(7);
  std::memcpy(lane->name, "worker", 7);
  ASSERT_EQ(buffers_->TryTake(file_.get(), lane.get()), Find::kTaken);
  const wire::TraceBufferHeader& header = *lane->buffer;
  EXPECT_EQ(header.round, 1u);
  EXPECT_EQ(header.closed, 0u);
  EXPECT_EQ(header.position, sizeof header);
  EXPECT_EQ(header.thread, 107u);
  EXPECT_EQ(header.token, 7u);
  EXPECT_STREQ(reinterpret_cast<const char*>(header.name), "worker");
}

TEST_F(TraceBuffersTest, HoldTheEventsInOrderOfTime) {
  auto lane = NewLane(1);
  ASSERT_EQ(buffers_->TryTake(file_.get(), lane.get()), Find::kTaken);
  wire::TraceAllocation allocation{};
  allocation.what = wire::PackTraceWhat(wire::TraceEventKind::kAllocate, 0x1000);
  allocation.size = 48;
  allocation.stack = 5;
  lane->Append(allocation, [this] { return clock_.Read(); });
  lane->Append(wire::TraceFree{0, wire::PackTraceWhat(wire::TraceEventKind::kFree, 0x1000)},
               [this] { return clock_.Read(); });
  EXPECT_EQ(lane->buffer->position, sizeof(wire::TraceBufferHeader) + 48);
  wire::TraceAllocation first;
  wire::TraceFree second;
  memcpy(&first, lane->buffer + 1, sizeof first);
  memcpy(&second, reinterpret_cast<char*>(lane->buffer + 1) + sizeof first, sizeof second);
  EXPECT_EQ(wire::TraceKindOf(first.what), wire::TraceEventKind::kAllocate);
  EXPECT_EQ(wire::TraceAddressOf(first.what), 0x1000u);
  EXPECT_EQ(first.size, 48u);
  EXPECT_EQ(first.stack, 5u);
  EXPECT_EQ(wire::TraceKindOf(second.what), wire::TraceEventKind::kFree);
  EXPECT_GT(first.time, 0u);
  EXPECT_GE(second.time, first.time);
}

TEST_F(TraceBuffersTest, AreFilledToTheLastByte) {
  auto lane = NewLane(1);
  ASSERT_EQ(buffers_->TryTake(file_.get(), lane.get()), Find::kTaken);
  wire::TraceBufferHeader* buffer = lane->buffer;
  uint32_t events = 0;
  for (; lane->room >= sizeof(wire::TraceFree); ++events) {
    lane->Append(wire::TraceFree{0, wire::PackTraceWhat(wire::TraceEventKind::kFree, 16)},
                 [this] { return clock_.Read(); });
  }
  EXPECT_EQ(events, (wire::kSegmentBytes - sizeof(wire::TraceBufferHeader)) / 16);
  EXPECT_EQ(buffer->position, wire::kSegmentBytes);
  buffers_->Close(lane.get());
  EXPECT_EQ(buffer->closed, 1u);
  EXPECT_EQ(buffer->position, wire::kSegmentBytes);
  EXPECT_EQ(lane->room, 0u);
}

TEST_F(TraceBuffersTest, AreTakenAgainOnlyWhenTheyWereRead) {
  auto lane = NewLane(1);
  std::vector<wire::TraceBufferHeader*> taken;
  for (int i = 0; i < 16; ++i) {
    ASSERT_EQ(buffers_->TryTake(file_.get(), lane.get()), Find::kTaken);
    taken.push_back(lane->buffer);
    buffers_->Close(lane.get());
  }
  EXPECT_EQ(buffers_->TryTake(file_.get(), lane.get()), Find::kNone);
  Release(taken[9]);
  ASSERT_EQ(buffers_->TryTake(file_.get(), lane.get()), Find::kTaken);
  EXPECT_EQ(lane->buffer, taken[9]);
  EXPECT_EQ(lane->buffer->round, 2u);
  EXPECT_EQ(lane->buffer->closed, 1u);
  EXPECT_EQ(lane->buffer->position, sizeof(wire::TraceBufferHeader));
  buffers_->Close(lane.get());
  EXPECT_EQ(buffers_->TryTake(file_.get(), lane.get()), Find::kNone);
}

TEST_F(TraceBuffersTest, AreNotTakenOnTheWordOfARecorderThatLies) {
  auto lane = NewLane(1);
  ASSERT_EQ(buffers_->TryTake(file_.get(), lane.get()), Find::kTaken);
  lane->buffer->released = 77;
  lane->buffer->round = 99;
  lane->buffer->position = ~0u;
  wire::TraceBufferHeader* buffer = lane->buffer;
  lane->Append(wire::TraceFree{}, [this] { return clock_.Read(); });
  EXPECT_EQ(buffer->position, sizeof(wire::TraceBufferHeader) + 16);
  // Still held, whatever is said of it.
  buffer->released = 1;
  auto other = NewLane(2);
  ASSERT_EQ(buffers_->TryTake(file_.get(), other.get()), Find::kTaken);
  EXPECT_NE(other->buffer, buffer);
}

TEST_F(TraceBuffersTest, GrowBeyondTheirBoundWhenThreadsHoldThemAll) {
  std::vector<std::unique_ptr<TraceLane>> lanes;
  for (uint32_t i = 0; i < 16; ++i) {
    lanes.push_back(NewLane(i + 1));
    ASSERT_EQ(buffers_->TryTake(file_.get(), lanes.back().get()), Find::kTaken);
  }
  auto lane = NewLane(17);
  EXPECT_EQ(buffers_->TryTake(file_.get(), lane.get()), Find::kAllHeld);
  EXPECT_TRUE(buffers_->TakeBeyond(file_.get(), lane.get()));
  EXPECT_EQ(control().max_buffers, 17u);
}

TEST_F(TraceBuffersTest, WaitForTheRecorderAndNotForEver) {
  TraceBuffers::Patience patience;
  const uint32_t seen = buffers_->releases();
  std::thread recorder([&] {
    EXPECT_TRUE(Eventually("the program waits",
                           [&] { return std::atomic_ref(control().waiting).load() != 0; }));
    TellReleased();
  });
  while (buffers_->releases() == seen) ASSERT_TRUE(buffers_->Wait(seen, &patience));
  recorder.join();
  EXPECT_EQ(control().waiting, 0u);
  EXPECT_GE(control().waits, 1u);
  // Without a sign of life.
  int naps = 0;
  while (buffers_->Wait(buffers_->releases(), &patience)) ASSERT_LT(++naps, 1000);
  // With one it begins anew.
  control().beat = 5;
  EXPECT_TRUE(buffers_->Wait(buffers_->releases(), &patience));
}

TEST_F(LanePoolTest, AThreadKeepsItsLane) {
  lanes_->Start(static_cast<uint32_t>(getpid()));
  TraceLane* lane = lanes_->Enter(&hg_thread, 1000, buffers_.get());
  ASSERT_NE(lane, nullptr);
  EXPECT_EQ(lane->busy_sp, 1000u);
  EXPECT_EQ(lane->thread, static_cast<uint32_t>(gettid()));
  EXPECT_EQ(lane->owner, hg_thread.token);
  ASSERT_EQ(buffers_->TryTake(file_.get(), lane), Find::kTaken);
  lanes_->Leave(lane, buffers_.get());
  EXPECT_EQ(lane->busy_sp, 0u);
  EXPECT_NE(lane->buffer, nullptr);
  EXPECT_EQ(lanes_->Enter(&hg_thread, 900, buffers_.get()), lane);
}

TEST_F(LanePoolTest, AHandlerInBetweenUsesAnotherAndKeepsIt) {
  lanes_->Start(static_cast<uint32_t>(getpid()));
  TraceLane* lane = lanes_->Enter(&hg_thread, 1000, buffers_.get());
  TraceLane* inner = lanes_->Enter(&hg_thread, 500, buffers_.get());
  ASSERT_NE(inner, lane);
  ASSERT_EQ(buffers_->TryTake(file_.get(), inner), Find::kTaken);
  EXPECT_EQ(inner->buffer->token, hg_thread.token);
  TraceLane* innermost = lanes_->Enter(&hg_thread, 200, buffers_.get());
  EXPECT_NE(innermost, lane);
  EXPECT_NE(innermost, inner);
  lanes_->Leave(innermost, buffers_.get());
  lanes_->Leave(inner, buffers_.get());
  EXPECT_EQ(lane->busy_sp, 1000u);
  // The next handler finds it as it was left.
  EXPECT_EQ(lanes_->Enter(&hg_thread, 600, buffers_.get()), inner);
  EXPECT_NE(inner->buffer, nullptr);
  EXPECT_EQ(inner->buffer->closed, 0u);
  lanes_->Leave(inner, buffers_.get());
  lanes_->Leave(lane, buffers_.get());
  EXPECT_EQ(hg_thread.lane, lane);
}

// Has the lane know the stack that the test runs on.
void Walk(TraceLane* lane, uintptr_t sp) {
  Registers registers{};
  registers.sp = sp;
  lane->walker.Walk(registers);
}

TEST_F(LanePoolTest, AHandlerThatJumpedAwayLeavesTheLanesUsable) {
  alignas(8) char frame[1024];
  const uintptr_t sp = reinterpret_cast<uintptr_t>(frame);
  const uintptr_t above = sp + 512;
  lanes_->Start(static_cast<uint32_t>(getpid()));
  TraceLane* lane = lanes_->Enter(&hg_thread, above, buffers_.get());
  Walk(lane, sp);
  ASSERT_EQ(buffers_->TryTake(file_.get(), lane), Find::kTaken);
  // Left in the midst of an event, and of one within.
  lane->buffer->position |= 1;
  TraceLane* inner = lanes_->Enter(&hg_thread, sp, buffers_.get());
  ASSERT_NE(inner, lane);
  Walk(inner, sp);
  // The same place calls again.
  EXPECT_EQ(lanes_->Enter(&hg_thread, above, buffers_.get()), lane);
  lane->Append(wire::TraceFree{}, [this] { return clock_.Read(); });
  EXPECT_EQ(lane->buffer->position, sizeof(wire::TraceBufferHeader) + 16);
  EXPECT_EQ(lanes_->Enter(&hg_thread, sp, buffers_.get()), inner);
}

// As a handler's is that lies above the thread's, or a coroutine's.
TEST_F(LanePoolTest, WhoeverIsOnAnotherStackIsNotTakenForTheOneWhoLeftIt) {
  alignas(8) char frame[1024];
  const uintptr_t sp = reinterpret_cast<uintptr_t>(frame);
  lanes_->Start(static_cast<uint32_t>(getpid()));
  TraceLane* lane = lanes_->Enter(&hg_thread, sp, buffers_.get());
  EXPECT_NE(lanes_->Enter(&hg_thread, sp, buffers_.get()), lane) << "nothing is known of the stack";
  Walk(lane, sp);
  EXPECT_NE(lanes_->Enter(&hg_thread, UINTPTR_MAX - 4095, buffers_.get()), lane);
  EXPECT_EQ(lanes_->Enter(&hg_thread, sp, buffers_.get()), lane);
}

TEST_F(LanePoolTest, AVforkChildOfAThreadWithoutLaneGivesItBackAtOnce) {
  lanes_->Start(static_cast<uint32_t>(getpid()) + 1);  // as if we were such a child
  TraceLane* lane = lanes_->Enter(&hg_thread, 1000, buffers_.get());
  ASSERT_NE(lane, nullptr);
  EXPECT_EQ(hg_thread.lane, nullptr);
  ASSERT_EQ(buffers_->TryTake(file_.get(), lane), Find::kTaken);
  wire::TraceBufferHeader* buffer = lane->buffer;
  lanes_->Leave(lane, buffers_.get());
  EXPECT_EQ(buffer->closed, 1u);
  EXPECT_EQ(lane->owner, 0u);
}

TEST_F(LanePoolTest, AThreadThatIsNoMoreLeavesItsLaneToOthers) {
  lanes_->Start(static_cast<uint32_t>(getpid()));
  TraceLane* lane = nullptr;
  wire::TraceBufferHeader* buffer = nullptr;
  std::thread([&] {
    lane = lanes_->Enter(&hg_thread, 1000, buffers_.get());
    buffers_->TryTake(file_.get(), lane);
    buffer = lane->buffer;
    lane->Append(wire::TraceFree{}, [this] { return clock_.Read(); });
    lanes_->Leave(lane, buffers_.get());
    lanes_->CloseOfTheDead(buffers_.get());
    EXPECT_EQ(buffer->closed, 0u);
  }).join();
  // The kernel may take a moment to forget it.
  EXPECT_TRUE(Eventually("the buffer of the dead is closed", [&] {
    lanes_->CloseOfTheDead(buffers_.get());
    return std::atomic_ref(buffer->closed).load() != 0;
  }));
  EXPECT_EQ(buffer->closed, 1u);
  EXPECT_EQ(lanes_->Enter(&hg_thread, 1000, buffers_.get()), lane);
}

TEST_F(LanePoolTest, ThreadsThatComeAndGoNeedFewLanes) {
  lanes_->Start(static_cast<uint32_t>(getpid()));
  for (int i = 0; i < 300; ++i) {
    std::thread([&] {
      TraceLane* lane = lanes_->Enter(&hg_thread, 1000, buffers_.get());
      ASSERT_NE(lane, nullptr);
      lanes_->Leave(lane, buffers_.get());
    }).join();
  }
  EXPECT_LT(lanes_->private_bytes() / sizeof(TraceLane), 30u);
}

TEST_F(LanePoolTest, AForkedChildBeginsAnew) {
  lanes_->Start(static_cast<uint32_t>(getpid()));
  TraceLane* lane = lanes_->Enter(&hg_thread, 1000, buffers_.get());
  ASSERT_EQ(buffers_->TryTake(file_.get(), lane), Find::kTaken);
  lanes_->Start(static_cast<uint32_t>(getpid()));
  EXPECT_EQ(lane->owner, 0u);
  EXPECT_EQ(lane->buffer, nullptr);
  TraceLane* again = lanes_->Enter(&hg_thread, 500, buffers_.get());
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->owner, hg_thread.token);
  EXPECT_EQ(hg_thread.lane, again);
}

}  // namespace
}  // namespace heapgauge::agent
