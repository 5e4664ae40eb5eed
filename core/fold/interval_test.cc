#include "core/fold/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace heapgauge {
namespace {

constexpr uint64_t kInterval = 512 * 1024;

Estimate FromSizes(const std::vector<uint64_t>& sizes) {
  Estimate sum;
  for (const uint64_t size : sizes) sum.Add(BytesEstimate(size, WeightOf(size, kInterval)));
  return sum;
}

TEST(SampleWeight, SmallBlocksStandForAnIntervalLargeOnesForThemselves) {
  EXPECT_NEAR(WeightOf(1, kInterval).bytes, kInterval, 1);
  EXPECT_NEAR(WeightOf(1, kInterval).objects, kInterval, 1);
  EXPECT_NEAR(WeightOf(64 << 20, kInterval).bytes, 64 << 20, 1e-6);
  EXPECT_NEAR(WeightOf(64 << 20, kInterval).bytes_variance, 0, 1e-6);
  EXPECT_NEAR(WeightOf(9216, kInterval).bytes, 528909.8, 1);  // as pprof works it out
  EXPECT_NEAR(WeightOf(9216, kInterval).objects, 57.39, 0.01);
  EXPECT_EQ(WeightOf(0, kInterval).bytes, WeightOf(1, kInterval).bytes);
  EXPECT_TRUE(std::isfinite(WeightOf(1, uint64_t{1} << 40).bytes_variance));
}

TEST(Interval, OneSampleIsAsWideAsPoissonSays) {
  const Interval interval = Interval95(FromSizes({1}));
  EXPECT_NEAR(interval.low / kInterval, 0.0253, 0.0002);
  EXPECT_NEAR(interval.high / kInterval, 5.572, 0.002);
}

TEST(Interval, NoSampleStillAllowsSomeIntervals) {
  const Interval interval = Interval95(NothingSampled(kInterval));
  EXPECT_EQ(interval.low, 0);
  EXPECT_NEAR(interval.high / kInterval, 3.689, 0.001);
}

TEST(Interval, NeverBelowWhatWasSeen) {
  const Estimate estimate = FromSizes({3 << 20, 3 << 20});
  const Interval interval = Interval95(estimate);
  EXPECT_GE(interval.low, 6 << 20);
  EXPECT_GE(interval.high, estimate.value);
  EXPECT_LT(interval.high, 1.2 * (6 << 20));
}

TEST(Interval, ExactFiguresHaveNoWidth) {
  const Interval interval = Interval95(Estimate{1000, 0, 0, 1000});
  EXPECT_EQ(interval.low, 1000);
  EXPECT_EQ(interval.high, 1000);
}

TEST(Interval, AbsurdVarianceStaysFinite) {
  const Interval interval = Interval95(Estimate{1, 1e30, 1e29, 0});
  EXPECT_TRUE(std::isfinite(interval.low));
  EXPECT_TRUE(std::isfinite(interval.high));
  EXPECT_LE(interval.low, 1);
  EXPECT_GE(interval.high, 1);
}

// Draws samples from a known heap again and again; counts how often the interval holds the truth.
struct Coverage {
  double inside = 0;
  double bias = 0;  // mean of the estimates over the truth
};
Coverage Simulate(const std::vector<uint64_t>& heap, bool counters_only, uint32_t seed) {
  constexpr int kRuns = 2000;
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  double truth = 0;
  for (const uint64_t size : heap) truth += static_cast<double>(size);
  int inside = 0;
  double sum = 0;
  for (int run = 0; run < kRuns; ++run) {
    Estimate estimate;
    for (const uint64_t size : heap) {
      const double p = -std::expm1(-static_cast<double>(size) / kInterval);
      if (uniform(random) < p) estimate.Add(BytesEstimate(size, WeightOf(size, kInterval)));
    }
    sum += estimate.value;
    if (counters_only && estimate.value > 0) {  // as kept per stack: sum and variance, no sizes
      estimate.step = estimate.variance / estimate.value;
      estimate.floor = 0;
    }
    if (estimate.value == 0) estimate = NothingSampled(kInterval);
    const Interval interval = Interval95(estimate);
    inside += interval.low <= truth && truth <= interval.high ? 1 : 0;
  }
  return {static_cast<double>(inside) / kRuns, sum / kRuns / truth};
}

// `expected` is the number of samples to expect.
std::vector<uint64_t> Heap(double expected, const std::vector<uint64_t>& sizes) {
  std::vector<uint64_t> heap;
  double samples = 0;
  for (size_t i = 0; samples < expected; ++i) {
    heap.push_back(sizes[i % sizes.size()]);
    samples += -std::expm1(-static_cast<double>(heap.back()) / kInterval);
  }
  return heap;
}

TEST(Interval, HoldsTheTruthInAtLeast93OfHundredProfiles) {
  const std::vector<std::vector<uint64_t>> mixes = {
      {8192},                               // small blocks only
      {4096, 16384, 65536, 262144},         // mixed
      {8192, 8192, 8192, 8192, 1 << 20},    // small ones and a few large
      {262144, 524288, 1 << 20, 2 << 20}};  // about the interval
  uint32_t seed = 1;
  for (const auto& mix : mixes) {
    for (const double expected : {1.0, 2.0, 5.0, 10.0, 30.0, 100.0}) {
      for (const bool counters_only : {false, true}) {
        const Coverage coverage = Simulate(Heap(expected, mix), counters_only, seed++);
        EXPECT_GE(coverage.inside, 0.93) << mix[0] << " " << expected << " " << counters_only;
        EXPECT_NEAR(coverage.bias, 1, 5 / std::sqrt(2000 * expected)) << "unbiased";
      }
    }
  }
}

// An interval that is always right because it is enormous is of no use either.
TEST(Interval, IsNotMuchWiderThanNeeded) {
  const std::vector<uint64_t> heap = Heap(100, {4096, 16384, 65536});
  const Coverage coverage = Simulate(heap, false, 99);
  EXPECT_LE(coverage.inside, 0.975);
}

}  // namespace
}  // namespace heapgauge
