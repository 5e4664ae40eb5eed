#include "core/trace/answer/heap_layout.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "core/trace/answer/testing/placed_at.h"

namespace heapgauge::trace {
namespace {

using testing::PlacedAt;

TEST(PlacedBlock, KeepsSizesExactBelowTwoGigabytes) {
  EXPECT_EQ(PlacedAt(1, 0).size(), 0u);
  EXPECT_EQ(PlacedAt(1, (1u << 31) - 1).size(), (1u << 31) - 1);
  EXPECT_EQ(PlacedAt(1, uint64_t{1} << 40).size(), uint64_t{1} << 40);
  EXPECT_EQ(PlacedAt(1, (uint64_t{1} << 40) + 1).size(), (uint64_t{1} << 40) + (1 << 16));
  EXPECT_EQ(PlacedAt(1, UINT64_MAX).size(), uint64_t{0x7fffffff} << 16);
}

TEST(PageUse, CountsPagesThatBlocksTouch) {
  std::vector<PlacedBlock> blocks = {PlacedAt(0x10000, 16), PlacedAt(0x10ff8, 16),
                                     PlacedAt(0x20000, 3 * 4096)};
  const PageUse use = MeasurePageUse({4096, 65536}, 4096, &blocks);
  ASSERT_EQ(use.ranges.size(), 2u);
  EXPECT_EQ(use.ranges[0].ranges, 5u) << "two by the small blocks, three by the large one";
  EXPECT_EQ(use.ranges[0].live_bytes, 32u + 3 * 4096);
  EXPECT_EQ(use.ranges[0].free_bytes(), 2 * 4096u - 32);
  EXPECT_EQ(use.ranges[0].by_fill[0], 2u);
  EXPECT_EQ(use.ranges[0].by_fill[7], 3u);
  EXPECT_EQ(use.ranges[1].ranges, 2u);
  EXPECT_EQ(use.lowest, 0x10000u);
  EXPECT_EQ(use.highest, 0x23000u);
}

TEST(PageUse, SharesTheFreeBytesOfNearlyEmptyPagesAmongTheirBlocks) {
  // A page with one block of group 1, one with blocks of both, one that is more than a quarter
  // full.
  std::vector<PlacedBlock> blocks = {PlacedAt(0x10000, 96, 1), PlacedAt(0x11000, 100, 1),
                                     PlacedAt(0x11100, 200, 2), PlacedAt(0x12000, 2000, 3)};
  const PageUse use = MeasurePageUse({4096}, 4096, &blocks);
  EXPECT_EQ(use.pinned_ranges, 2u);
  EXPECT_EQ(use.pinned_bytes, 4000u + 3796u);
  ASSERT_EQ(use.pins.size(), 2u);
  EXPECT_EQ(use.pins[0].group, 1u);
  EXPECT_EQ(use.pins[0].pinned_bytes, 4000u + 1898u);
  EXPECT_EQ(use.pins[0].blocks, 2u);
  EXPECT_EQ(use.pins[0].live_bytes, 196u);
  EXPECT_EQ(use.pins[0].ranges_alone, 1u);
  EXPECT_EQ(use.pins[1].group, 2u);
  EXPECT_EQ(use.pins[1].pinned_bytes, 1898u);
}

TEST(PageUse, IsWhatCountingEachByteGives) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 50; ++round) {
    std::vector<PlacedBlock> blocks;
    std::map<uint64_t, uint64_t> in_page;
    uint64_t address = 0x7000;
    for (int i = 0; i < 60; ++i) {
      address += random() % 3 == 0 ? random() % 20'000 : random() % 100;
      const uint64_t size = 1 + (random() % 4 == 0 ? random() % 15'000 : random() % 200);
      blocks.push_back(PlacedAt(address, size, static_cast<uint32_t>(random() % 4)));
      for (uint64_t k = 0; k < size; ++k) ++in_page[(address + k) / 4096];
      address += size;
    }
    std::shuffle(blocks.begin(), blocks.end(), random);
    const PageUse use = MeasurePageUse({4096}, 4096, &blocks);
    RangeUse expected;
    uint64_t pinned = 0;
    uint64_t pinned_ranges = 0;
    for (const auto& [page, bytes] : in_page) {
      ++expected.ranges;
      expected.live_bytes += bytes;
      ++expected.by_fill[(bytes * 8 - 1) / 4096];
      if (bytes > 1024) continue;
      pinned += 4096 - bytes;
      ++pinned_ranges;
    }
    EXPECT_EQ(use.ranges[0].ranges, expected.ranges);
    EXPECT_EQ(use.ranges[0].live_bytes, expected.live_bytes);
    EXPECT_EQ(use.ranges[0].by_fill, expected.by_fill);
    EXPECT_EQ(use.pinned_bytes, pinned);
    EXPECT_EQ(use.pinned_ranges, pinned_ranges);
    uint64_t sum = 0;
    for (const PinRow& row : use.pins) sum += row.pinned_bytes;
    EXPECT_EQ(sum, pinned) << "shares add up";
  }
}

TEST(PageUse, BearsBlocksThatCannotBe) {
  std::vector<PlacedBlock> blocks = {
      PlacedAt(0, 100),     PlacedAt(UINT64_MAX, 100), PlacedAt(0x1000, UINT64_MAX),
      PlacedAt(0x2000, 50), PlacedAt(0x2000, 50),      PlacedAt(0x5000, 0)};
  const PageUse use = MeasurePageUse({4096, 1 << 20}, 65536, &blocks);
  EXPECT_EQ(use.ranges.size(), 2u);
  EXPECT_LE(use.ranges[0].live_bytes, use.ranges[0].bytes());
  EXPECT_LE(use.ranges[1].live_bytes, use.ranges[1].bytes());
}

}  // namespace
}  // namespace heapgauge::trace
