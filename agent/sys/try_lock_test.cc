#include "agent/sys/try_lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace heapgauge::agent {
namespace {

TEST(TryLock, IsTakenOnce) {
  TryLock lock{};
  EXPECT_FALSE(lock.locked());
  EXPECT_TRUE(lock.Lock());
  EXPECT_TRUE(lock.locked());
  EXPECT_FALSE(lock.Lock());
  EXPECT_FALSE(lock.LockSoon());
  lock.Unlock();
  EXPECT_TRUE(lock.LockSoon());
}

// A thread that is held up between looking at the clock and at the lock must not take a lock that
// was taken meanwhile for one that was left behind.
TEST(TryLock, HasOneOwnerHoweverManyTry) {
  TryLock lock{};
  std::atomic<int> owners{0};
  std::atomic<int> most{0};
  std::atomic<int> taken{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20'000; ++round) {
        if (!lock.Lock()) continue;
        const int now = owners.fetch_add(1) + 1;
        if (now > most.load()) most.store(now);
        taken.fetch_add(1);
        if (round % 64 == 0) std::this_thread::yield();
        owners.fetch_sub(1);
        lock.Unlock();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(most.load(), 1);
  EXPECT_GT(taken.load(), 0);
}

}  // namespace
}  // namespace heapgauge::agent
