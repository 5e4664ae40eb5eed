// What a tracer does when there is no room, and by what it knows a stack.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "agent/sys/thread_state.h"
#include "agent/trace/tracer.h"
#include "agent/unwind/rule_lookup.h"
#include "core/base/testing/eventually.h"

namespace heapgauge::agent {
namespace {

using wire::TraceEventKind;

class TracerTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/heapgauge-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = name;
  }
  void TearDown() override {
    hg_thread.lane = nullptr;
    if (base_ != nullptr) munmap(base_, kBytes);
    std::filesystem::remove_all(directory_);
  }

  // A process of its own each time.
  void Start(bool drops) {
    hg_thread.lane = nullptr;
    if (base_ != nullptr) munmap(base_, kBytes);
    traced_ = std::make_unique<Traced>();
    const std::string path = directory_ + "/" + std::to_string(++started_) + ".hg";
    ASSERT_EQ(traced_->file.Create(path.c_str()), 0);
    ASSERT_TRUE(traced_->life.Start());
    traced_->life.Settle(true);
    TraceSettings settings;
    settings.on = true;
    settings.drops = drops;
    settings.buffer_bytes = TraceSettings::kLeastBytes;
    settings.patience_ns = 50'000'000;
    const Tracer::Record record{.life = traced_->life,
                                .file = &traced_->file,
                                .modules = &traced_->modules,
                                .stacks = &traced_->stacks,
                                .exe = "program",
                                .self = nullptr,
                                .make_ready = [](void*) { return true; },
                                .look_around = [](void*, bool) {}};
    ASSERT_TRUE(tracer().Start(settings, record, static_cast<uint32_t>(getpid())));
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
    base_ = static_cast<char*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    close(fd);
  }
  bool Free(uintptr_t address) {
    return tracer().TraceAddress(TraceEventKind::kFree, address, 1000);
  }
  Tracer& tracer() { return traced_->tracer; }
  wire::Header& header() { return *reinterpret_cast<wire::Header*>(base_); }
  wire::TraceControl& control() { return header().trace; }

  // As a recorder outside does.
  uint32_t ReleaseAll() {
    uint32_t released = 0;
    auto* directory = reinterpret_cast<uint32_t*>(base_ + wire::kHeaderBytes);
    for (uint32_t i = 1; i < std::atomic_ref(header().segment_count).load(); ++i) {
      if (wire::DirectoryKind(std::atomic_ref(directory[i]).load()) !=
          static_cast<uint32_t>(wire::SegmentKind::kTrace)) {
        continue;
      }
      auto& buffer =
          *reinterpret_cast<wire::TraceBufferHeader*>(base_ + size_t{i} * wire::kSegmentBytes);
      const uint32_t round = std::atomic_ref(buffer.round).load();
      if (std::atomic_ref(buffer.closed).load() != round || round == buffer.released) continue;
      std::atomic_ref(buffer.released).store(round);
      ++released;
    }
    std::atomic_ref(control().beat).fetch_add(1);
    if (released == 0) return 0;
    std::atomic_ref(control().releases).fetch_add(1);
    syscall(SYS_futex, &control().releases, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
    return released;
  }

  static constexpr size_t kBytes = size_t{wire::kMaxSegments} * wire::kSegmentBytes;
  static constexpr uint32_t kInABuffer = (wire::kSegmentBytes - 128) / 16;
  static constexpr uint32_t kBuffers = 16;
  std::string directory_;
  char* base_ = nullptr;
  struct Traced {
    ProcessLife life;
    GaugeFile file;
    ModuleTable modules;
    StackTable stacks;
    Tracer tracer;
  };
  std::unique_ptr<Traced> traced_;
  int started_ = 0;
};

TEST_F(TracerTest, LosesEventsAndCountsThemWhenTold) {
  Start(/*drops=*/true);
  for (uint32_t i = 0; i < kBuffers * kInABuffer; ++i) ASSERT_TRUE(Free(i + 1)) << i;
  for (uint32_t i = 0; i < 3000; ++i) ASSERT_FALSE(Free(1));
  EXPECT_EQ(control().lost, 3000u);
  EXPECT_EQ(control().waits, 0u);
  EXPECT_TRUE(tracer().tracing());
  EXPECT_EQ(ReleaseAll(), kBuffers);
  EXPECT_TRUE(Free(1));
  EXPECT_EQ(control().lost, 3000u);
}

TEST_F(TracerTest, WaitsForTheRecorderRatherThanLoseAnything) {
  Start(/*drops=*/false);
  std::atomic<bool> done = false;
  std::thread outside([&] {
    while (!done) {
      ReleaseAll();
      usleep(2000);
    }
  });
  bool kept = true;
  for (uint32_t i = 0; i < 10 * kBuffers * kInABuffer; ++i) kept &= Free(i + 1);
  done = true;
  outside.join();
  EXPECT_TRUE(kept);
  EXPECT_EQ(control().lost, 0u);
  EXPECT_EQ(control().gave_up, 0u);
  EXPECT_EQ(control().max_buffers, kBuffers);
}

TEST_F(TracerTest, GivesUpWhenNobodyEmptiesTheBuffers) {
  Start(/*drops=*/false);
  for (uint32_t i = 0; i < kBuffers * kInABuffer; ++i) ASSERT_TRUE(Free(i + 1)) << i;
  EXPECT_FALSE(Free(1));
  EXPECT_FALSE(tracer().tracing());
  EXPECT_EQ(control().gave_up, 1u);
  EXPECT_EQ(control().tracing, 0u);
  EXPECT_EQ(control().lost, 1u);
  EXPECT_GE(control().waits, 1u);
  // For good.
  ReleaseAll();
  EXPECT_FALSE(tracer().tracing());
}

TEST_F(TracerTest, EndsAtTheNextFullBufferWhenTheRecordingIsOver) {
  for (const bool drops : {false, true}) {
    Start(drops);
    ASSERT_TRUE(Free(1));
    header().trace_over = 1;
    for (uint32_t i = 1; i < kInABuffer; ++i) ASSERT_TRUE(Free(1)) << i;
    EXPECT_FALSE(Free(1));
    EXPECT_FALSE(tracer().tracing());
    EXPECT_EQ(control().tracing, 0u);
    EXPECT_EQ(control().gave_up, 0u);
    EXPECT_EQ(control().lost, 0u);
    EXPECT_EQ(control().waits, 0u);
  }
}

TEST_F(TracerTest, WhoWaitsGoesOnWhenTheRecordingIsOver) {
  Start(/*drops=*/false);
  for (uint32_t i = 0; i < kBuffers * kInABuffer; ++i) ASSERT_TRUE(Free(i + 1)) << i;
  std::thread outside([&] {
    // Alive all the time: it does not end for want of patience.
    EXPECT_TRUE(Eventually("the program waits", [&] {
      std::atomic_ref(control().beat).fetch_add(1);
      return std::atomic_ref(control().waiting).load() != 0;
    }));
    std::atomic_ref(header().trace_over).store(1);
    std::atomic_ref(control().releases).fetch_add(1);
    syscall(SYS_futex, &control().releases, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
  });
  EXPECT_FALSE(Free(1));
  outside.join();
  EXPECT_FALSE(tracer().tracing());
  EXPECT_EQ(control().gave_up, 0u);
  EXPECT_EQ(control().lost, 0u);
}

TEST_F(TracerTest, ACallWithinAnotherDoesNotWait) {
  Start(/*drops=*/false);
  ASSERT_TRUE(Free(1));
  hg_thread.lane->busy_sp = 2000;  // as if this were a handler
  for (uint32_t i = 0; i < 2 * kBuffers * kInABuffer; ++i) ASSERT_TRUE(Free(i + 1)) << i;
  EXPECT_EQ(control().waits, 0u);
  EXPECT_EQ(control().lost, 0u);
  EXPECT_GT(control().max_buffers, kBuffers);
}

// Traces a block of the caller; the number of its stack.
[[gnu::noinline]] uint32_t StackOfABlock(Tracer* tracer) {
  static BlockRoom room;
  Registers caller;
  __asm__ volatile("mov %%rbp, %0" : "=r"(caller.fp));
  caller.pc = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  caller.sp = reinterpret_cast<uintptr_t>(__builtin_dwarf_cfa());
  alignas(16) static char block[64];
  const auto address = reinterpret_cast<uintptr_t>(block + 16);
  tracer->TraceBlock(TraceEventKind::kAllocate,
                     {address, 1, &room, wire::AllocationFunction::kMalloc, 0}, caller);
  const TraceLane& lane = *hg_thread.lane;
  const char* end = reinterpret_cast<const char*>(lane.buffer) + wire::kSegmentBytes - lane.room;
  return reinterpret_cast<const wire::TraceAllocation*>(end)[-1].stack;
}
[[gnu::noinline]] uint32_t StackByOneOfTwoWays(Tracer* tracer, bool second) {
  uint32_t stack;
  if (second) {
    __asm__ volatile("nop");  // before and after: no compiler makes one call of both
    stack = StackOfABlock(tracer);
    __asm__ volatile("nop");
  } else {
    stack = StackOfABlock(tracer);
    __asm__ volatile("");
  }
  return stack;
}

TEST_F(TracerTest, AStackHasOneNumberHoweverOftenAndHoweverItIsFound) {
  Start(/*drops=*/false);
  Tracer* const traced = &tracer();
  uint32_t number[2][2] = {};  // by way and labels
  for (int i = 0; i < 400; ++i) {
    __asm__ volatile("" : "+r"(i));  // one return address
    if (i % 100 == 99) InvalidateUnwindRules();
    const bool second = (i & 1) != 0;
    hg_thread.labels = (i & 2) != 0 ? 7 : 0;
    const uint32_t stack = StackByOneOfTwoWays(traced, second);
    hg_thread.labels = 0;
    ASSERT_NE(stack, 0u);
    uint32_t& expected = number[second][(i & 2) != 0];
    if (i < 4) expected = stack;
    ASSERT_EQ(stack, expected) << i;
  }
  EXPECT_NE(number[0][0], number[1][0]);
  EXPECT_NE(number[0][0], number[0][1]);
  EXPECT_NE(number[0][1], number[1][1]);
}

}  // namespace
}  // namespace heapgauge::agent
