#include "core/fold/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace heapgauge {
namespace {

double Choose(int n, int k) {
  double value = 1;
  for (int i = 1; i <= k; ++i) value = value * (n - k + i) / i;
  return value;
}

TEST(Beta, BinomialTailsAreTheSumsOfTheirTerms) {
  for (const int n : {1, 7, 30}) {
    for (const double p : {0.01, 0.25, 0.5, 0.93}) {
      double below = 0;  // fewer than k
      for (int k = 0; k <= n; ++k) {
        EXPECT_NEAR(BinomialAtLeast(k, n, p), 1 - below, 1e-11) << k << " of " << n;
        below += Choose(n, k) * std::pow(p, k) * std::pow(1 - p, n - k);
        EXPECT_NEAR(BinomialAtMost(k, n, p), below, 1e-11) << k << " of " << n;
      }
    }
  }
}

TEST(Beta, FarTailsKeepTheirDigits) {
  EXPECT_NEAR(BinomialAtLeast(60, 60, 0.5) / std::pow(0.5, 60), 1, 1e-9);
  EXPECT_NEAR(BinomialAtMost(0, 60, 0.5) / std::pow(0.5, 60), 1, 1e-9);
}

TEST(Beta, TailsOfManyAreNormal) {
  const double n = 1e6;
  // Two standard deviations above the mean, with the continuity correction.
  EXPECT_NEAR(BinomialAtLeast(n / 2 + 1000, n, 0.5), 0.5 * std::erfc(1.999 / std::sqrt(2.0)), 1e-5);
}

TEST(Beta, SharesOfFewHaveTheLimitsOfClopperAndPearson) {
  // One of ten: from the tables 0.25 % to 44.5 %.
  const Interval one = Share95(1, 10);
  EXPECT_NEAR(one.low, 0.0025286, 1e-6);
  EXPECT_NEAR(one.high, 0.4450161, 1e-6);
  // None of n: 1 - 0.025^(1/n).
  EXPECT_EQ(Share95(0, 20).low, 0);
  EXPECT_NEAR(Share95(0, 20).high, 1 - std::pow(0.025, 1.0 / 20), 1e-9);
  EXPECT_NEAR(Share95(20, 20).low, std::pow(0.025, 1.0 / 20), 1e-9);
  EXPECT_EQ(Share95(20, 20).high, 1);
  EXPECT_EQ(Share95(0, 0).high, 1);
}

TEST(Beta, OddArgumentsHaveAnswers) {
  EXPECT_EQ(BinomialAtLeast(0, 0, 0.5), 1);
  EXPECT_EQ(BinomialAtLeast(3, 2, 0.5), 0);
  EXPECT_EQ(BinomialAtMost(-1, 2, 0.5), 0);
  EXPECT_EQ(BinomialAtLeast(1, 5, 0), 0);
  EXPECT_EQ(BinomialAtMost(4, 5, 1), 0);
  EXPECT_GT(BinomialAtLeast(2.5, 7.25, 0.3), BinomialAtLeast(3, 7.25, 0.3));
}

}  // namespace
}  // namespace heapgauge
