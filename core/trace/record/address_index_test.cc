#include "core/trace/record/address_index.h"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>
#include <vector>

namespace heapgauge::trace {
namespace {

TEST(AddressIndex, FindsWhatIsThereThroughManyChanges) {
  BlockPool pool;
  AddressIndex index(&pool);
  std::unordered_map<uint64_t, uint32_t> expected;
  std::mt19937_64 random(3);
  for (int i = 0; i < 400'000; ++i) {
    // Few enough addresses that many are there already; dense ones as allocators have them.
    const uint64_t address = 0x7f0000000000 + random() % 60'000 * 16;
    const uint64_t hash = AddressIndex::Hash(address);
    const auto it = expected.find(address);
    const uint32_t found = index.Find(address, hash);
    ASSERT_EQ(found, it == expected.end() ? AddressIndex::kNoSlot : it->second);
    if (it == expected.end()) {
      LiveBlock* block = nullptr;
      const uint32_t slot = pool.Take(&block);
      ASSERT_EQ(block, &pool[slot]);
      pool[slot].address = address;
      ASSERT_EQ(index.Put(address, hash, slot), AddressIndex::kNoSlot);
      expected[address] = slot;
    } else if (random() % 8 == 0) {  // handed out again
      LiveBlock* block = nullptr;
      const uint32_t slot = pool.Take(&block);
      ASSERT_EQ(block, &pool[slot]);
      pool[slot].address = address;
      ASSERT_EQ(index.Put(address, hash, slot), it->second);
      pool.Return(it->second);
      it->second = slot;
    } else if (random() % 2 == 0) {
      ASSERT_EQ(index.Remove(address, hash), it->second);
      pool.Return(it->second);
      expected.erase(it);
    }
  }
  EXPECT_EQ(pool.size(), expected.size());
  size_t visited = 0;
  pool.ForEach([&](uint32_t slot) {
    EXPECT_EQ(expected.at(pool[slot].address), slot);
    ++visited;
  });
  EXPECT_EQ(visited, expected.size());
}

TEST(AddressIndex, GivesMemoryBackWhenBlocksGo) {
  BlockPool pool;
  AddressIndex index(&pool);
  constexpr uint64_t kBlocks = 500'000;
  const size_t before = index.bytes();
  for (uint64_t i = 1; i <= kBlocks; ++i) {
    LiveBlock* block = nullptr;
    const uint32_t slot = pool.Take(&block);
    ASSERT_EQ(block, &pool[slot]);
    pool[slot].address = i * 32;
    index.Put(i * 32, AddressIndex::Hash(i * 32), slot);
  }
  EXPECT_LE(pool.bytes() + index.bytes(), kBlocks * 96);
  for (uint64_t i = 1; i <= kBlocks; ++i) {
    const uint32_t slot = index.Remove(i * 32, AddressIndex::Hash(i * 32));
    ASSERT_NE(slot, AddressIndex::kNoSlot);
    pool.Return(slot);
  }
  EXPECT_EQ(pool.size(), 0U);
  EXPECT_LE(pool.bytes(), size_t{2} << 20);
  EXPECT_EQ(index.bytes(), before);
}

// Addresses whose hashes share part and line, so that most pass by full lines, and the mark, so
// that only the block itself tells them apart.
TEST(AddressIndex, KeepsApartWhatFallsOnOneLine) {
  constexpr uint64_t kInverse = 0xf1de83e19937733d;  // of the factor of Hash
  std::vector<uint64_t> addresses;
  for (uint64_t i = 0; i < 300; ++i) {
    // Part 3; low bits of the tag, which choose the line, and the mark are the same for all.
    const uint64_t hash = uint64_t{3} << 56 | i << 46 | uint64_t{5} << 24 | uint64_t{9} << 17;
    const uint64_t address = hash * kInverse << 3;
    if (AddressIndex::Hash(address) == hash) addresses.push_back(address);
  }
  ASSERT_GE(addresses.size(), 30U);
  BlockPool pool;
  AddressIndex index(&pool);
  std::mt19937_64 random(7);
  std::unordered_map<uint64_t, uint32_t> expected;
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t address = addresses[random() % addresses.size()];
    const uint64_t hash = AddressIndex::Hash(address);
    const auto it = expected.find(address);
    ASSERT_EQ(index.Find(address, hash), it == expected.end() ? AddressIndex::kNoSlot : it->second);
    if (it == expected.end()) {
      LiveBlock* block = nullptr;
      const uint32_t slot = pool.Take(&block);
      block->address = address;
      ASSERT_EQ(index.Put(address, hash, slot), AddressIndex::kNoSlot);
      expected[address] = slot;
    } else {
      ASSERT_EQ(index.Remove(address, hash), it->second);
      pool.Return(it->second);
      expected.erase(it);
    }
  }
}

}  // namespace
}  // namespace heapgauge::trace
