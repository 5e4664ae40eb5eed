#include "agent/table/bucket_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

#include "agent/table/poisson.h"

namespace heapgauge::agent {
namespace {

// In zeroed memory, as in the agent.
std::unique_ptr<BucketTable> NewTable() { return std::make_unique<BucketTable>(); }

TEST(BucketTable, FindsWhatWasInsertedAndNothingElse) {
  auto table = NewTable();
  uint32_t value = 0;
  EXPECT_FALSE(table->Find(42, &value));
  EXPECT_TRUE(table->Insert(42, 7));
  EXPECT_TRUE(table->Find(42, &value));
  EXPECT_EQ(value, 7u);
  EXPECT_FALSE(table->Find(43, &value));
  EXPECT_TRUE(table->Remove(42, &value));
  EXPECT_FALSE(table->Remove(42, &value));
}

TEST(BucketTable, KeepsManyInLargePages) {
  auto table = NewTable();
  table->ExpectMany();
  constexpr uint32_t kMany = 300'000;  // into the second level
  for (uint32_t i = 0; i < kMany; ++i) {
    const uint64_t key = 2 + uint64_t{i} * 4099;
    table->Prefetch(key);
    ASSERT_TRUE(table->Insert(key, i));
  }
  for (uint32_t i = 0; i < kMany; ++i) {
    uint32_t value = 0;
    ASSERT_TRUE(table->Find(2 + uint64_t{i} * 4099, &value));
    ASSERT_EQ(value, i);
  }
  uint32_t none = 0;
  EXPECT_FALSE(table->Find(3, &none));
}

TEST(BucketTable, BeginsWithALargeLevelOnlyWhereManyAreExpectedFromTheStart) {
  auto few = NewTable();
  ASSERT_TRUE(few->Insert(2, 20));
  const size_t small = few->private_bytes();
  few->ExpectMany();
  uint32_t value = 0;
  EXPECT_TRUE(few->Find(2, &value));
  EXPECT_EQ(value, 20u);
  EXPECT_EQ(few->private_bytes(), small);

  auto many = NewTable();
  many->ExpectMany();
  many->PrefetchPlace(2);
  ASSERT_TRUE(many->Insert(2, 20));
  EXPECT_TRUE(many->Find(2, &value));
  const size_t large = many->private_bytes();
  EXPECT_EQ(large, 64 * small);
  // None of these needs another level.
  for (uint32_t i = 3; i < 50'000; ++i) ASSERT_TRUE(many->Insert(i, i));
  EXPECT_EQ(many->private_bytes(), large);
}

TEST(BucketTable, AgreesWithAMapOverManyRandomOperations) {
  auto table = NewTable();
  std::unordered_map<uint64_t, uint32_t> map;
  uint64_t random = 1;
  for (int i = 0; i < 400'000; ++i) {
    const uint64_t key = 2 + NextRandom(&random) % 30'000 * 4096;
    uint32_t found = 0;
    const auto it = map.find(key);
    switch (NextRandom(&random) % 3) {
      case 0:
        if (it == map.end()) {
          ASSERT_TRUE(table->Insert(key, static_cast<uint32_t>(i)));
          map[key] = static_cast<uint32_t>(i);
        }
        break;
      case 1:
        ASSERT_EQ(table->Remove(key, &found), it != map.end());
        if (it != map.end()) {
          ASSERT_EQ(found, it->second);
          map.erase(it);
        }
        break;
      default:
        ASSERT_EQ(table->Find(key, &found), it != map.end());
        if (it != map.end()) {
          ASSERT_EQ(found, it->second);
        }
    }
  }
}

TEST(BucketTable, GrowsInStepWithItsContents) {
  auto table = NewTable();
  for (uint64_t key = 0; key < 3'000; ++key) ASSERT_TRUE(table->Insert(0x10000 + key * 4096, 1));
  const size_t small = table->private_bytes();
  EXPECT_LE(small, size_t{300} << 10);
  for (uint64_t key = 3'000; key < 200'000; ++key) {
    ASSERT_TRUE(table->Insert(0x10000 + key * 4096, 1));
  }
  EXPECT_LE(table->private_bytes(), size_t{20} << 20);
  uint32_t value;
  for (uint64_t key = 0; key < 200'000; ++key)
    ASSERT_TRUE(table->Find(0x10000 + key * 4096, &value));
}

TEST(BucketTable, ChurnDoesNotMakeItGrow) {
  auto table = NewTable();
  uint32_t value;
  for (uint64_t i = 0; i < 1'000'000; ++i) {
    ASSERT_TRUE(table->Insert(2 + i * 16, static_cast<uint32_t>(i)));
    if (i >= 1'000) {
      ASSERT_TRUE(table->Remove(2 + (i - 1'000) * 16, &value));
    }
  }
  // One level more than a thousand keys need at the most: the rare case of two full buckets.
  EXPECT_LE(table->private_bytes(), size_t{256} << 10);
}

TEST(BucketTable, ThreadsDoNotDisturbEachOther) {
  auto table = NewTable();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      uint64_t random = t;
      for (int round = 0; round < 300; ++round) {
        std::vector<uint64_t> keys;
        for (int i = 0; i < 200; ++i) {
          keys.push_back((NextRandom(&random) << 4 | t << 1) | 2);
          if (!table->Insert(keys.back(), static_cast<uint32_t>(i))) ++wrong;
        }
        for (uint32_t i = 0; i < keys.size(); ++i) {
          uint32_t value = 0;
          if (!table->Remove(keys[i], &value) || value != i) ++wrong;
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace heapgauge::agent
