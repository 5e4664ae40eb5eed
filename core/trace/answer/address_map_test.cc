#include "core/trace/answer/heap_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "core/trace/answer/testing/placed_at.h"

namespace heapgauge::trace {
namespace {

using testing::PlacedAt;

TEST(AddressMap, HasACellForEachPageAndSaysWhoseItIs) {
  const std::vector<PlacedBlock> blocks = {PlacedAt(0x10000, 1000, 1), PlacedAt(0x10800, 2000, 2),
                                           PlacedAt(0x11f00, 0x300, 3)};
  const AddressMap map = MapAddresses(blocks, 100);
  EXPECT_EQ(map.unit, 4096u);
  ASSERT_EQ(map.areas.size(), 1u);
  EXPECT_EQ(map.areas[0].start, 0x10000u);
  ASSERT_EQ(map.cells.size(), 3u);
  EXPECT_EQ(map.cells[0].live_bytes, 3000u);
  EXPECT_EQ(map.cells[0].blocks, 2u);
  EXPECT_EQ(map.cells[0].largest, 2u);
  EXPECT_EQ(map.cells[0].largest_bytes, 2000u);
  // One block reaches into two.
  EXPECT_EQ(map.cells[1].live_bytes, 0x100u);
  EXPECT_EQ(map.cells[2].live_bytes, 0x200u);
  EXPECT_EQ(map.cells[2].largest, 3u);
}

TEST(AddressMap, LeavesOutWhereNothingLives) {
  const std::vector<PlacedBlock> blocks = {PlacedAt(0x5500'0000'0000, 100),
                                           PlacedAt(0x5500'0000'3000, 100),
                                           PlacedAt(0x7f00'0000'0000, 100)};
  const AddressMap map = MapAddresses(blocks, 100);
  EXPECT_EQ(map.unit, 4096u);
  ASSERT_EQ(map.areas.size(), 2u);
  EXPECT_EQ(map.areas[0].cells, 4u);  // two empty ones between
  EXPECT_EQ(map.areas[1].start, 0x7f00'0000'0000u);
  EXPECT_EQ(map.areas[1].first, 4u);
  EXPECT_EQ(map.cells[1].largest, AddressMap::kNobody);
}

TEST(AddressMap, HasLargerCellsRatherThanManyPieces) {
  std::vector<PlacedBlock> blocks;
  for (uint64_t i = 0; i < 40; ++i) blocks.push_back(PlacedAt(0x100000 + i * (300 << 10), 100));
  const AddressMap map = MapAddresses(blocks, 4000);
  EXPECT_EQ(map.areas.size(), 1u);
  EXPECT_EQ(map.unit, 8192u);
  // Not at any price: these are too far apart.
  blocks.clear();
  for (uint64_t i = 0; i < 40; ++i) blocks.push_back(PlacedAt(0x100000 + (i << 32), 100));
  EXPECT_EQ(MapAddresses(blocks, 4000).areas.size(), 40u);
  EXPECT_EQ(MapAddresses(blocks, 4000).unit, 4096u);
}

TEST(AddressMap, StaysWithinItsBounds) {
  std::mt19937_64 random(3);
  std::vector<PlacedBlock> blocks;
  uint64_t address = 0x1000;
  uint64_t bytes = 0;
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t size = random() % (i % 500 == 0 ? 1 << 22 : 3000);
    blocks.push_back(PlacedAt(address, size, static_cast<uint32_t>(random() % 9)));
    bytes += std::max<uint64_t>(size, 1);
    address += size + 1 + random() % (i % 100 == 0 ? uint64_t{1} << 40 : 5000);
  }
  for (const size_t most : {1, 7, 500, 4000, 1 << 20}) {
    const AddressMap map = MapAddresses(blocks, most);
    EXPECT_LE(map.cells.size(), most);
    uint64_t sum = 0;
    for (const AddressMap::Cell& cell : map.cells) sum += cell.live_bytes;
    EXPECT_EQ(sum, bytes) << most;
  }
}

TEST(AddressMap, BearsBlocksThatOverlap) {
  const std::vector<PlacedBlock> blocks = {PlacedAt(0x1000, 1 << 20, 1), PlacedAt(0x2000, 5000, 2),
                                           PlacedAt(0x2000, 9000, 3)};
  const AddressMap map = MapAddresses(blocks, 1000);
  for (const AddressMap::Cell& cell : map.cells) EXPECT_LE(cell.live_bytes, map.unit);
  EXPECT_TRUE(MapAddresses({}, 10).cells.empty());
}

TEST(AddressMap, TellsWhoHoldsARange) {
  const std::vector<PlacedBlock> blocks = {PlacedAt(0x1000, 0x1800, 1), PlacedAt(0x2900, 0x100, 2),
                                           PlacedAt(0x2a00, 0x100, 1), PlacedAt(0x3000, 50, 2)};
  const Holders holders = FindHolders(blocks, 0x2000, 0x3000);
  EXPECT_EQ(holders.blocks, 3u);
  EXPECT_EQ(holders.bytes, 0x800u + 0x200u);
  ASSERT_EQ(holders.rows.size(), 2u);
  EXPECT_EQ(holders.rows[0].group, 1u);
  EXPECT_EQ(holders.rows[0].bytes, 0x900u);
  EXPECT_EQ(holders.rows[1].bytes, 0x100u);
  EXPECT_TRUE(FindHolders(blocks, 0x9000, 0xa000).rows.empty());
}

}  // namespace
}  // namespace heapgauge::trace
