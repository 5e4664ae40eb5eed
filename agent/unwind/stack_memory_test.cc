#include "agent/unwind/stack_memory.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>

#include <cstdint>

#include "agent/sys/os.h"

namespace heapgauge::agent {
namespace {

constexpr uintptr_t kPage = arch::kPageBytes;

uintptr_t Here() { return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)); }

uintptr_t Map(size_t pages) {
  return reinterpret_cast<uintptr_t>(
      mmap(nullptr, pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

// Freezes system calls for a scope.
struct Frozen {
  Frozen() { FreezeSyscalls(); }
  ~Frozen() { syscalls_frozen.store(false); }
};

// Runs `body` on a thread of its own.
template <typename Body>
void OnThread(Body body) {
  pthread_t thread;
  const auto start = [](void* argument) -> void* {
    (*static_cast<Body*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, nullptr, start, &body), 0);
  pthread_join(thread, nullptr);
}

TEST(ProbeReadable, TellsMappedFromUnmappedAndProtectedMemory) {
  const uintptr_t map = Map(3);
  mprotect(reinterpret_cast<void*>(map + kPage), kPage, PROT_NONE);
  munmap(reinterpret_cast<void*>(map + 2 * kPage), kPage);
  EXPECT_TRUE(ProbeReadable(map));
  EXPECT_TRUE(ProbeReadable(map + kPage - 8));
  EXPECT_FALSE(ProbeReadable(map + kPage));
  EXPECT_FALSE(ProbeReadable(map + 2 * kPage));
  EXPECT_FALSE(ProbeReadable(0));
  EXPECT_FALSE(ProbeReadable(~uintptr_t{7}));
  {
    const Frozen frozen;
    EXPECT_FALSE(ProbeReadable(map));
  }
  munmap(reinterpret_cast<void*>(map), 2 * kPage);
}

TEST(StackMemory, TheMainThreadsStackIsKnownWithoutSystemCalls) {
  StackMemory memory;
  const Frozen frozen;
  const uintptr_t sp = Here() & ~uintptr_t{7};
  memory.StartWalk(sp);
  EXPECT_TRUE(memory.IsOwn(sp));
  EXPECT_EQ(memory.own_low(), sp);
  EXPECT_TRUE(memory.MayRead(memory.own_high() - 8));
  EXPECT_FALSE(memory.MayRead(sp - 8)) << "below the stack pointer nothing is known";
}

TEST(StackMemory, AThreadsStackIsProbedUpToItsControlBlock) {
  OnThread([] {
    StackMemory memory;
    const uintptr_t sp = Here() & ~uintptr_t{7};
    memory.StartWalk(sp);
    EXPECT_TRUE(memory.IsOwn(sp));
    EXPECT_EQ(memory.own_high(), arch::ThreadControlBlock() & ~uintptr_t{7});
    const Frozen frozen;
    EXPECT_TRUE(memory.MayRead(memory.own_high() - 8));
    memory.StartWalk(sp - 3 * kPage);  // deeper, and no way to prove it
    EXPECT_FALSE(memory.IsOwn(sp - 3 * kPage));
    EXPECT_TRUE(memory.IsOwn(sp));
  });
}

TEST(StackMemory, NothingOfAnUnknownThreadIsReadWhenSystemCallsAreFrozen) {
  OnThread([] {
    StackMemory memory;
    const Frozen frozen;
    const uintptr_t sp = Here() & ~uintptr_t{7};
    memory.StartWalk(sp);
    EXPECT_FALSE(memory.MayRead(sp));
  });
}

TEST(StackMemory, AnotherStackIsProbedInEachWalkAndNeverRemembered) {
  const uintptr_t map = Map(4);
  StackMemory memory;
  memory.StartWalk(map + kPage);
  EXPECT_FALSE(memory.IsOwn(map + kPage));
  EXPECT_TRUE(memory.MayRead(map + kPage));
  EXPECT_TRUE(memory.MayRead(map + 3 * kPage));
  EXPECT_TRUE(memory.MayRead(map + 2 * kPage));
  EXPECT_FALSE(memory.MayRead(map + 4)) << "not a whole word";
  munmap(reinterpret_cast<void*>(map), 4 * kPage);
  memory.StartWalk(Here() & ~uintptr_t{7});
  EXPECT_FALSE(memory.MayRead(map + kPage));
}

// A coroutine's stack may lie right below a thread's with no more than the guard page in between.
TEST(StackMemory, AStackBelowAHoleIsNotTheThreadsOwn) {
  OnThread([] {
    StackMemory memory;
    const uintptr_t sp = Here() & ~uintptr_t{7};
    // Find the lower end of this thread's stack: the guard page.
    uintptr_t page = sp & ~(kPage - 1);
    while (ProbeReadable(page)) page -= kPage;
    const uintptr_t other = reinterpret_cast<uintptr_t>(
        mmap(reinterpret_cast<void*>(page - 8 * kPage), 2 * kPage, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    memory.StartWalk(other + kPage);
    EXPECT_FALSE(memory.IsOwn(other + kPage));
    EXPECT_TRUE(memory.MayRead(other + kPage));
    memory.StartWalk(sp);
    EXPECT_TRUE(memory.IsOwn(sp)) << "the thread's own stack is found nevertheless";
    munmap(reinterpret_cast<void*>(other), 2 * kPage);
  });
}

TEST(StackMemory, ASwitchToNonsenseProvesNothing) {
  StackMemory memory;
  const uintptr_t sp = Here() & ~uintptr_t{7};
  memory.StartWalk(sp);
  const uintptr_t low = memory.own_low();
  memory.SwitchTo(sp - (uintptr_t{48} << 20));  // below the stack, inside the limit, not mapped
  EXPECT_EQ(memory.own_low(), low);
  memory.SwitchTo(0x10);
  memory.SwitchTo(~uintptr_t{7});
  EXPECT_EQ(memory.own_low(), low);
}

TEST(StackMemory, AnotherThreadStartsAfresh) {
  StackMemory memory;
  const uintptr_t sp = Here() & ~uintptr_t{7};
  memory.StartWalk(sp);
  EXPECT_TRUE(memory.StartWalk(sp));
  OnThread([&memory, sp] {
    EXPECT_FALSE(memory.StartWalk(Here() & ~uintptr_t{7}));
    EXPECT_FALSE(memory.IsOwn(sp));
  });
}

}  // namespace
}  // namespace heapgauge::agent
