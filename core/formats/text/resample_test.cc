#include "core/formats/text/sampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace heapgauge {
namespace {

CountAndSize ReadBack(const Resampled& r, int64_t rate) {
  CountAndSize sum;
  for (const CountAndSize& line : r.lines) {
    const CountAndSize one = PprofUnsample(line, rate);
    sum.count += one.count;
    sum.size += one.size;
  }
  return sum;
}

TEST(Resample, FindsTheSamplesThatWereTaken) {
  for (const CountAndSize taken : {CountAndSize{1, 9216}, CountAndSize{7, 7 * 48},
                                   CountAndSize{3, 3000000}, CountAndSize{1, 1}}) {
    const EstimatedPair pair = Unsample(taken, {Sampling::Method::kPoisson, 524288});
    const Resampled r = Resample(pair.count.value, pair.size.value, 524288);
    EXPECT_EQ(r.lines[0].count, taken.count);
    EXPECT_EQ(r.lines[0].size, taken.size);
    EXPECT_EQ(r.lines[1].count, 0);
  }
}

TEST(Resample, KeepsExactFigures) {
  EXPECT_EQ(Resample(3, 100, 1).lines[0].size, 100);
  EXPECT_EQ(Resample(0, 100, 1).lines[0].count, 1) << "readers refuse bytes without a block";
  EXPECT_EQ(Resample(0, 0, 1).lines[0].count, 0);
  EXPECT_EQ(Resample(0, 0, 4096).lines[0].count, 0);
}

TEST(Resample, MeetsMixedSizesWithTwoLines) {
  // One sample of 16 bytes and one of a megabyte.
  const EstimatedPair small = Unsample({1, 16}, {Sampling::Method::kPoisson, 524288});
  const EstimatedPair large = Unsample({1, 1 << 20}, {Sampling::Method::kPoisson, 524288});
  const double count = small.count.value + large.count.value;
  const double size = small.size.value + large.size.value;
  const Resampled r = Resample(count, size, 524288);
  const CountAndSize back = ReadBack(r, 524288);
  EXPECT_NEAR(static_cast<double>(back.size) / size, 1, 1e-3);
  EXPECT_NEAR(static_cast<double>(back.count) / count, 1, 0.1);
}

TEST(Resample, MeetsTheBytesOfAnyMixOfSamples) {
  std::mt19937 random(5);
  double worst_size = 0;
  for (int round = 0; round < 3000; ++round) {
    const int64_t rate = int64_t{1} << (10 + random() % 10);
    double count = 0;
    double size = 0;
    for (uint64_t i = 0, n = 1 + random() % 6; i < n; ++i) {
      const int64_t block = int64_t{8} << random() % 18;
      const EstimatedPair pair =
          Unsample({1, block}, {Sampling::Method::kPoisson, static_cast<double>(rate)});
      count += pair.count.value;
      size += pair.size.value;
    }
    const CountAndSize back = ReadBack(Resample(count, size, rate), rate);
    worst_size = std::max(worst_size, std::fabs(static_cast<double>(back.size) / size - 1));
  }
  EXPECT_LT(worst_size, 0.1);
}

TEST(Resample, KeepsTheSignOfDifferences) {
  const Resampled r = Resample(-57.4, -528909.5, 524288);
  EXPECT_EQ(r.lines[0].count, -1);
  EXPECT_NEAR(static_cast<double>(r.lines[0].size), -9216, 10);
}

}  // namespace
}  // namespace heapgauge
