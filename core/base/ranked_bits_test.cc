#include "core/base/lookup_tables.h"

#include <gtest/gtest.h>

#include <random>

namespace heapgauge {
namespace {

TEST(RankedBits, KnowHowManyAreSetBeforeEach) {
  std::mt19937 random(7);
  for (const size_t size : {0u, 1u, 63u, 64u, 65u, 1000u}) {
    RankedBits bits(size);
    std::vector<bool> expected(size);
    for (size_t i = 0; i < size; ++i) {
      if (random() % 3 != 0) continue;
      bits.Set(i);
      expected[i] = true;
    }
    bits.Count();
    uint32_t before = 0;
    for (size_t i = 0; i < size; ++i) {
      EXPECT_EQ(bits[i], expected[i]);
      EXPECT_EQ(bits.Rank(i), before);
      before += expected[i] ? 1 : 0;
    }
    EXPECT_EQ(bits.ones(), before);
  }
}

}  // namespace
}  // namespace heapgauge
