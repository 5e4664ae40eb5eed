#include "core/formats/text/sampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace heapgauge {
namespace {

TEST(PprofUnsample, GivesTheWholeNumbersOfPprof) {
  const CountAndSize one = PprofUnsample({1, 9216}, 524288);
  EXPECT_EQ(one.count, 57);
  EXPECT_EQ(one.size, 528909);
  // Computed by pprof itself.
  const CountAndSize many = PprofUnsample({7, 1234567}, 4096);
  EXPECT_EQ(many.count, 7);
  EXPECT_EQ(many.size, 1234567);
  const CountAndSize small = PprofUnsample({3, 48}, 524288);
  EXPECT_EQ(small.count, 98305);
  EXPECT_EQ(small.size, 1572888);
}

TEST(PprofUnsample, LeavesExactFiguresAlone) {
  for (const int64_t rate : {int64_t{-5}, int64_t{0}, int64_t{1}}) {
    EXPECT_EQ(PprofUnsample({3, 48}, rate).size, 48);
    EXPECT_EQ(PprofUnsample({3, 48}, rate).count, 3);
  }
  EXPECT_EQ(PprofUnsample({3, 0}, 1).count, 0) << "blocks without bytes do not count";
}

TEST(PprofUnsample, KeepsTheSign) {
  const CountAndSize negative = PprofUnsample({-1, -9216}, 524288);
  EXPECT_EQ(negative.count, -57);
  EXPECT_EQ(negative.size, -528909);
}

TEST(PprofUnsample, StaysInRangeForAbsurdFigures) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(PprofUnsample({kMax, 1}, kMax).count, kMax);
  EXPECT_EQ(PprofUnsample({-kMax, -1}, kMax).count, -kMax);
  EXPECT_EQ(PprofUnsample({1, kMax}, 2).size, kMax);
  const CountAndSize mixed = PprofUnsample({1, -kMax}, 2);
  EXPECT_EQ(mixed.count, 0);
}

TEST(Unsample, AgreesWithTheWeightOfOneBlock) {
  const EstimatedPair pair = Unsample({4, 4 * 9216}, {Sampling::Method::kPoisson, 524288});
  const SampleWeight weight = WeightOf(9216, 524288);
  EXPECT_NEAR(pair.count.value, 4 * weight.objects, 1e-6);
  EXPECT_NEAR(pair.size.value, 4 * weight.bytes, 1e-3);
  EXPECT_NEAR(pair.count.variance / (4 * weight.objects_variance), 1, 1e-9);
  EXPECT_NEAR(pair.size.variance / (4 * weight.bytes_variance), 1, 1e-9);
  EXPECT_NEAR(pair.size.step / weight.bytes_step, 1, 1e-9);
  EXPECT_EQ(pair.size.floor, 4 * 9216);
  EXPECT_NEAR(pair.size.block_variance / pair.size.variance, 9216, 1e-6);
}

TEST(Unsample, DividesBySizeOverRateInTheFirstVersion) {
  const Sampling linear{Sampling::Method::kLinear, 1000};
  EXPECT_DOUBLE_EQ(Unsample({2, 200}, linear).count.value, 20);
  EXPECT_DOUBLE_EQ(Unsample({2, 200}, linear).size.value, 2000);
  EXPECT_DOUBLE_EQ(Unsample({2, 4000}, linear).size.value, 4000);
  EXPECT_DOUBLE_EQ(Unsample({2, 4000}, linear).size.variance, 0);
}

TEST(Unsample, IsFiniteForAbsurdFigures) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  for (const CountAndSize pair : {CountAndSize{kMax, 1}, CountAndSize{1, kMax}, CountAndSize{-1, 5},
                                  CountAndSize{5, 0}, CountAndSize{0, 5}}) {
    for (const auto method : {Sampling::Method::kPoisson, Sampling::Method::kLinear}) {
      const EstimatedPair e = Unsample(pair, {method, 9e18});
      for (const Estimate& one : {e.count, e.size}) {
        EXPECT_TRUE(std::isfinite(one.value) && std::isfinite(one.variance) &&
                    std::isfinite(one.block_variance));
        EXPECT_GE(one.variance, 0);
      }
    }
  }
}

}  // namespace
}  // namespace heapgauge
