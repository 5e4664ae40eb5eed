#include "core/fold/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace heapgauge {
namespace {

TEST(Gamma, AgreesWithClosedForms) {
  for (const double x : {0.01, 0.5, 1.0, 3.0, 20.0}) {
    EXPECT_NEAR(GammaBelow(1, x), 1 - std::exp(-x), 1e-13);          // exponential
    EXPECT_NEAR(GammaBelow(0.5, x), std::erf(std::sqrt(x)), 1e-13);  // normal
    EXPECT_NEAR(GammaBelow(2, x), 1 - std::exp(-x) * (1 + x), 1e-13);
  }
  EXPECT_EQ(GammaBelow(3, 0), 0);
}

TEST(Gamma, NormalQuantilesAreThoseOfTheTables) {
  EXPECT_NEAR(NormalQuantile(0.5), 0, 1e-12);
  EXPECT_NEAR(NormalQuantile(0.975), 1.959963984540054, 1e-12);
  EXPECT_NEAR(NormalQuantile(0.025), -1.959963984540054, 1e-12);
  EXPECT_NEAR(NormalQuantile(0.999), 3.090232306167814, 1e-12);
  EXPECT_NEAR(NormalQuantile(1e-12), -7.034483825301131, 1e-9);
}

// Chi-square tables: the quantile at k degrees of freedom is twice that of shape k/2.
TEST(Gamma, QuantilesAreThoseOfTheChiSquareTables) {
  struct Row {
    double k, low, high;
  };
  const Row rows[] = {{1, 0.000982069, 5.023886},     {2, 0.0506356, 7.377759},
                      {4, 0.484419, 11.143287},       {10, 3.246973, 20.483177},
                      {30, 16.790772, 46.979242},     {100, 74.221927, 129.561197},
                      {1000, 914.257151, 1089.530893}};
  for (const Row& row : rows) {
    EXPECT_NEAR(2 * GammaQuantile(row.k / 2, 0.025), row.low, 1e-6 * (1 + row.low)) << row.k;
    EXPECT_NEAR(2 * GammaQuantile(row.k / 2, 0.975), row.high, 1e-6 * (1 + row.high)) << row.k;
  }
}

TEST(Gamma, QuantileInvertsTheDistribution) {
  for (double shape = 0.02; shape < 6000; shape *= 1.37) {
    for (const double p : {1e-6, 0.025, 0.3, 0.5, 0.975, 1 - 1e-6}) {
      const double x = GammaQuantile(shape, p);
      EXPECT_NEAR(GammaBelow(shape, x), p, 2e-9 + (shape > 5000 ? 1e-5 : 0)) << shape << " " << p;
    }
  }
}

TEST(Gamma, LargeShapesJoinWithoutAStep) {
  for (const double p : {0.025, 0.5, 0.975}) {
    const double below = GammaQuantile(4999.999, p);
    const double above = GammaQuantile(5000.001, p);
    EXPECT_NEAR((above - below) / below, 0, 1e-6);
    EXPECT_NEAR(GammaQuantile(1e14, p) / 1e14, 1, 1e-6);
  }
}

TEST(Gamma, TinyShapesEnd) {
  EXPECT_GE(GammaQuantile(1e-3, 0.025), 0);
  EXPECT_GT(GammaQuantile(1e-3, 0.9999), 0);
}

}  // namespace
}  // namespace heapgauge
