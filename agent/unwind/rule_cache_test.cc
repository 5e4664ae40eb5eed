#include "agent/unwind/rule_lookup.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace heapgauge::agent {
namespace {

constexpr uint64_t kAddresses = uint64_t{1} << arch::kAddressBits;

// Some rule that follows from the address, so that a wrong answer shows.
PackedRule RuleFor(uintptr_t address) {
  return (address * 0x2545f4914f6cdd1du & ~packed::kFreeMask) | 1;
}

TEST(RuleCache, FindsWhatWasInserted) {
  const auto cache = std::make_unique<RuleCache>();
  EXPECT_EQ(cache->Find(0x401000), 0u);
  cache->Insert(0x401000, RuleFor(0x401000));
  EXPECT_EQ(cache->Find(0x401000), RuleFor(0x401000));
  EXPECT_EQ(cache->Find(0x401001), 0u);
  cache->Insert(0x401000, 77);
  EXPECT_EQ(cache->Find(0x401000), 77u);
  cache->Clear();
  EXPECT_EQ(cache->Find(0x401000), 0u);
}

TEST(RuleCache, AddressZeroOfAnEmptyCacheIsNotFound) {
  const auto cache = std::make_unique<RuleCache>();
  EXPECT_EQ(cache->Find(0), 0u);
}

TEST(RuleCache, SpreadingIsReversible) {
  // The inverse of an odd factor modulo 2^47, by Newton's method.
  constexpr int kShift = 64 - arch::kAddressBits;
  const uint64_t factor = RuleCache::Spread(1) >> kShift;
  uint64_t inverse = factor;
  for (int i = 0; i < 6; ++i) inverse *= 2 - factor * inverse;
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const uint64_t address = random() % kAddresses;
    ASSERT_EQ((RuleCache::Spread(address) >> kShift) * inverse % kAddresses, address);
  }
}

TEST(RuleCache, FourAddressesOfOneSlotLiveTogether) {
  const auto cache = std::make_unique<RuleCache>();
  const uint32_t slot = RuleCache::SlotOf(RuleCache::Spread(0x400000));
  std::vector<uintptr_t> same = {0x400000};
  for (uintptr_t address = 0x400001; same.size() < 5; ++address) {
    if (RuleCache::SlotOf(RuleCache::Spread(address)) == slot) same.push_back(address);
  }
  for (uint32_t i = 0; i < 4; ++i) cache->Insert(same[i], 10 + i);
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(cache->Find(same[i]), 10 + i);
  EXPECT_EQ(cache->Find(same[4]), 0u);
  cache->Insert(same[4], 14);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < 5; ++i) kept += cache->Find(same[i]) == 10 + i;
  EXPECT_EQ(kept, 4u) << "one had to go, and only one";
  EXPECT_EQ(cache->Find(same[4]), 14u);
}

TEST(RuleCache, NeverAnswersWithTheRuleOfAnotherAddress) {
  const auto cache = std::make_unique<RuleCache>();
  std::mt19937_64 random(2);
  uint64_t hits = 0;
  for (int i = 0; i < 2'000'000; ++i) {
    // Near one another, as code is, and all over the place.
    const uintptr_t address =
        i % 2 == 0 ? 0x7f0000000000 + random() % 20'000 * 3 : random() % kAddresses;
    const PackedRule rule = cache->Find(address);
    if (rule != 0) {
      ++hits;
      ASSERT_EQ(rule, RuleFor(address));
    } else {
      cache->Insert(address, RuleFor(address));
    }
  }
  EXPECT_GT(hits, 100'000u);
}

TEST(RuleCache, ThreadsNeverSeeAMixtureOfTwoEntries) {
  const auto cache = std::make_unique<RuleCache>();
  std::atomic<uint64_t> wrong{0}, hits{0};
  const auto work = [&](unsigned seed) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < 300'000; ++i) {
      const uintptr_t address = 0x550000000000 + random() % 40'000;
      const PackedRule rule = cache->Find(address);
      if (rule == 0) {
        cache->Insert(address, RuleFor(address));
      } else {
        hits.fetch_add(1, std::memory_order_relaxed);
        if (rule != RuleFor(address)) wrong.fetch_add(1, std::memory_order_relaxed);
      }
      if (i % 100'000 == 0) cache->Clear();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0u);
  EXPECT_GT(hits.load(), 10'000u);
}

}  // namespace
}  // namespace heapgauge::agent
