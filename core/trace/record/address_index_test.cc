#include "core/trace/record/address_index.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <unordered_map>
#include <vector>

namespace heapgauge::trace {
namespace {

// Puts in and takes out, at addresses as `choose` tells them, and compares with a map.
void Exercise(int steps, const std::function<uint64_t(std::mt19937_64*)>& choose) {
  BlockPool pool;
  AddressIndex index(&pool);
  std::unordered_map<uint64_t, uint32_t> expected;
  std::mt19937_64 random(3);
  const auto take = [&](uint64_t address) {
    LiveBlock* block = nullptr;
    const uint32_t slot = pool.Take(&block);
    EXPECT_EQ(block, &pool[slot]);
    block->address = address;
    return slot;
  };
  for (int i = 0; i < steps; ++i) {
    const uint64_t address = choose(&random);
    const auto it = expected.find(address);
    const uint32_t there = it == expected.end() ? AddressIndex::kNoSlot : it->second;
    ASSERT_EQ(index.Find(address), there);
    ASSERT_EQ(AddressIndex::SlotAt(index.Prefetch(address)), there);
    if (it == expected.end()) {
      ASSERT_EQ(index.Remove(address), AddressIndex::kNoSlot);
      const uint32_t slot = take(address);
      ASSERT_EQ(index.Put(address, slot), AddressIndex::kNoSlot);
      expected[address] = slot;
    } else if (random() % 8 == 0) {  // handed out again
      const uint32_t slot = take(address);
      ASSERT_EQ(index.Put(address, slot), it->second);
      pool.Return(it->second);
      it->second = slot;
    } else if (random() % 2 == 0) {
      ASSERT_EQ(index.Remove(address), it->second);
      pool.Return(it->second);
      expected.erase(it);
    }
  }
  EXPECT_EQ(pool.size(), expected.size());
  for (const auto& [address, slot] : expected) ASSERT_EQ(index.Find(address), slot);
}

// As a matcher does: places of many addresses are looked up before the first is used.
void ExerciseInBatches(int batches, const std::function<uint64_t(std::mt19937_64*)>& choose) {
  BlockPool pool;
  AddressIndex index(&pool);
  std::unordered_map<uint64_t, uint32_t> expected;
  std::mt19937_64 random(4);
  uint32_t next = 0;
  uint64_t looked_up_again = 0;
  for (int batch = 0; batch < batches; ++batch) {
    constexpr size_t kBatch = 64;
    uint64_t addresses[kBatch];
    AddressIndex::Place places[kBatch];
    uint64_t changes = 0;
    const auto look_up = [&] {
      for (size_t i = 0; i < kBatch; ++i) places[i] = index.Prefetch(addresses[i]);
      changes = index.changes();
    };
    for (uint64_t& address : addresses) address = choose(&random);
    look_up();
    const bool grows = batch / 100 % 2 == 0;  // in waves
    for (size_t i = 0; i < kBatch; ++i) {
      if (index.changes() != changes) {
        ++looked_up_again;
        look_up();
      }
      const auto it = expected.find(addresses[i]);
      const uint32_t there = it == expected.end() ? AddressIndex::kNoSlot : it->second;
      if (random() % 8 == 0 ? !grows : grows) {
        ASSERT_EQ(index.Put(places[i], addresses[i], next), there);
        expected[addresses[i]] = next++;
      } else {
        ASSERT_EQ(index.Remove(places[i], addresses[i]), there);
        expected.erase(addresses[i]);
      }
    }
  }
  for (const auto& [address, slot] : expected) ASSERT_EQ(index.Find(address), slot);
  EXPECT_GT(looked_up_again, 0U);
  EXPECT_LT(looked_up_again, static_cast<uint64_t>(batches));
}

TEST(AddressIndex, PlacesStayWhileOthersComeAndGo) {
  ExerciseInBatches(
      2000, [](std::mt19937_64* random) { return 0x7f0000000000 + (*random)() % 20'000 * 16; });
  ExerciseInBatches(2000, [](std::mt19937_64* random) { return (*random)() % 2000 << 14; });
}

// Few enough addresses that many are there already; dense ones as allocators have them.
TEST(AddressIndex, FindsWhatIsThereThroughManyChanges) {
  Exercise(400'000,
           [](std::mt19937_64* random) { return 0x7f0000000000 + (*random)() % 60'000 * 16; });
}

TEST(AddressIndex, KeepsAddressesApartThatAreNoMultiplesOf16) {
  Exercise(200'000, [](std::mt19937_64* random) { return 0x550000000000 + (*random)() % 30'000; });
}

// Each in a region of its own, of which many share a place in the table.
TEST(AddressIndex, KeepsRegionsApart) {
  Exercise(200'000, [](std::mt19937_64* random) { return (*random)() % 20'000 << 27; });
  Exercise(20'000, [](std::mt19937_64* random) { return (*random)() << 2; });
}

// Regions fill up and become nearly empty, in waves.
TEST(AddressIndex, KeepsWhatIsLeftOfARegion) {
  BlockPool pool;
  AddressIndex index(&pool);
  constexpr uint64_t kUnits = 3 * 8192;
  for (uint64_t wave = 0; wave < 6; ++wave) {
    const auto stays = [wave](uint64_t unit) { return unit % 1000 == wave; };
    for (uint64_t unit = 0; unit < kUnits; ++unit) {
      index.Put(unit * 16, static_cast<uint32_t>(wave * kUnits + unit));
    }
    for (uint64_t unit = 0; unit < kUnits; ++unit) {
      if (stays(unit)) continue;
      ASSERT_EQ(index.Remove(unit * 16), wave * kUnits + unit);
    }
    for (uint64_t unit = 0; unit < kUnits; ++unit) {
      ASSERT_EQ(index.Find(unit * 16),
                stays(unit) ? wave * kUnits + unit : uint64_t{AddressIndex::kNoSlot});
    }
    for (uint64_t unit = wave; unit < kUnits; unit += 1000) index.Remove(unit * 16);
  }
}

TEST(AddressIndex, GivesMemoryBackWhenBlocksGo) {
  BlockPool pool;
  AddressIndex index(&pool);
  constexpr uint64_t kBlocks = 500'000;
  for (uint64_t i = 1; i <= kBlocks; ++i) {
    LiveBlock* block = nullptr;
    const uint32_t slot = pool.Take(&block);
    ASSERT_EQ(block, &pool[slot]);
    pool[slot].address = i * 32;
    index.Put(i * 32, slot);
  }
  EXPECT_LE(pool.bytes() + index.bytes(), kBlocks * 96);
  for (uint64_t i = 1; i <= kBlocks; ++i) {
    const uint32_t slot = index.Remove(i * 32);
    ASSERT_NE(slot, AddressIndex::kNoSlot);
    pool.Return(slot);
  }
  EXPECT_EQ(pool.size(), 0U);
  EXPECT_LE(pool.bytes(), size_t{2} << 20);
  EXPECT_LE(index.bytes(), size_t{512} << 10);
}

TEST(AddressIndex, GivesMemoryBackWhenMostBlocksGo) {
  BlockPool pool;
  AddressIndex index(&pool);
  constexpr uint64_t kBlocks = 500'000;
  for (uint64_t i = 1; i <= kBlocks; ++i) index.Put(i * 32, static_cast<uint32_t>(i));
  const size_t full = index.bytes();
  for (uint64_t i = 1; i <= kBlocks; ++i) {
    if (i % 1000 != 0) index.Remove(i * 32);
  }
  EXPECT_LE(index.bytes(), full / 4);
  for (uint64_t i = 1000; i <= kBlocks; i += 1000) ASSERT_EQ(index.Find(i * 32), i);
}

// A block that comes and goes alone does not make and drop its region each time, and what far
// blocks leave behind is bounded.
TEST(AddressIndex, ForgetsRegionsWithoutBlocks) {
  BlockPool pool;
  AddressIndex index(&pool);
  for (uint64_t i = 1; i <= 100'000; ++i) {
    index.Put(i << 20, 7);
    ASSERT_EQ(index.Remove(i << 20), 7U);
  }
  EXPECT_LE(index.bytes(), size_t{512} << 10);
}

}  // namespace
}  // namespace heapgauge::trace
