#include "agent/trace/stack_memo.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace heapgauge::agent {
namespace {

uint64_t KeyOf(uint64_t i) {
  uint64_t key = (i + 1) * 0x9E3779B97F4A7C15;
  key ^= key >> 31;
  return key * 0xBF58476D1CE4E5B9 | 2;
}
// Told by the key, so that a wrong one is noticed.
uint32_t NumberOf(uint64_t key) { return static_cast<uint32_t>(key >> 40) | 1; }

TEST(StackMemo, FindsNothingWithoutMemory) {
  StackMemo memo;
  memo.Keep(KeyOf(1), 5);
  EXPECT_EQ(memo.Find(KeyOf(1)), 0u);
}

TEST(StackMemo, FindsWhatItWasTold) {
  StackMemo memo;
  memo.Start();
  uint32_t found = 0;
  for (uint64_t i = 0; i < 20000; ++i) memo.Keep(KeyOf(i), NumberOf(KeyOf(i)));
  for (uint64_t i = 0; i < 20000; ++i) {
    const uint32_t number = memo.Find(KeyOf(i));
    if (number == 0) continue;
    ASSERT_EQ(number, NumberOf(KeyOf(i)));
    ++found;
  }
  EXPECT_GT(found, 19000u);
  for (uint64_t i = 20000; i < 40000; ++i) EXPECT_EQ(memo.Find(KeyOf(i)), 0u);
}

TEST(StackMemo, ForgetsRatherThanGrow) {
  StackMemo memo;
  memo.Start();
  for (uint64_t i = 0; i < 500000; ++i) memo.Keep(KeyOf(i), NumberOf(KeyOf(i)));
  uint32_t found = 0;
  for (uint64_t i = 0; i < 500000; ++i) found += memo.Find(KeyOf(i)) != 0;
  EXPECT_LE(found, 65536u);
  EXPECT_EQ(memo.Find(KeyOf(499999)), NumberOf(KeyOf(499999)));
}

TEST(StackMemo, NeverTellsAnothersNumber) {
  StackMemo memo;
  memo.Start();
  // Keys of one set, so that threads write the same entries.
  std::vector<uint64_t> keys;
  for (uint64_t i = 0; keys.size() < 64; ++i) {
    const uint64_t key = KeyOf(i) >> 14 | uint64_t{5} << 50;
    keys.push_back(key);
  }
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = t; i < 200000; ++i) {
        const uint64_t key = keys[i * 7 % keys.size()];
        memo.Keep(key, NumberOf(key << 14));
        const uint64_t wanted = keys[i * 13 % keys.size()];
        const uint32_t number = memo.Find(wanted);
        if (number != 0) {
          ASSERT_EQ(number, NumberOf(wanted << 14));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace heapgauge::agent
