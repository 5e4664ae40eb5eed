#include "core/fold/statistics.h"

#include <gtest/gtest.h>

#include <random>

namespace heapgauge {
namespace {

TEST(Trend, ALineHasItsSlope) {
  const Rise rise = RiseOf({1, 3, 5, 7, 9, 11, 13, 15});
  EXPECT_DOUBLE_EQ(rise.slope, 2);
  EXPECT_DOUBLE_EQ(rise.slope_95.low, 2);
  EXPECT_LT(rise.p, 0.001);
}

TEST(Trend, TimesNeedNotBeEven) {
  const Rise rise = RiseOf({1, 3, 5, 21, 41}, {0, 1, 2, 10, 20});
  EXPECT_DOUBLE_EQ(rise.slope, 2);
  EXPECT_DOUBLE_EQ(rise.slope_95.high, 2);
  // Two of one time have no slope.
  EXPECT_DOUBLE_EQ(RiseOf({1, 1, 3, 5, 21, 41}, {0, 0, 1, 2, 10, 20}).slope, 2);
  EXPECT_EQ(RiseOf({1, 2, 3, 4}, {5, 5, 5, 5}).slope, 0);
}

TEST(Trend, WhatFallsOrStaysDoesNotRise) {
  EXPECT_GT(RiseOf({9, 8, 7, 6, 5, 4, 3, 2}).p, 0.99);
  EXPECT_EQ(RiseOf({4, 4, 4, 4, 4, 4}).p, 1);
  EXPECT_EQ(RiseOf({4, 4, 4, 4, 4, 4}).slope, 0);
  EXPECT_GT(RiseOf({0, 9, 0, 9, 0, 9, 0, 9, 0, 9}).p, 0.1);
}

TEST(Trend, OneWildValueDoesNotMatter) {
  const Rise rise = RiseOf({1, 2, 3, 1000, 5, 6, 7, 8, 9, 10});
  EXPECT_NEAR(rise.slope, 1, 0.01);
  EXPECT_LT(rise.p, 0.01);
}

TEST(Trend, FewValuesTellNothing) { EXPECT_EQ(RiseOf({1, 2, 3}).p, 1); }

TEST(Trend, NoiseIsTakenForATrendAsOftenAsTheTestSays) {
  std::mt19937 random(5);
  std::normal_distribution<double> noise;
  int significant = 0;
  int covered = 0;
  const int runs = 4000;
  for (int run = 0; run < runs; ++run) {
    std::vector<double> values(16);
    for (double& value : values) value = noise(random);
    const Rise rise = RiseOf(values);
    significant += rise.p < 0.05 ? 1 : 0;
    covered += rise.slope_95.low <= 0 && rise.slope_95.high >= 0 ? 1 : 0;
  }
  EXPECT_GT(significant, runs * 0.03);
  EXPECT_LT(significant, runs * 0.065);
  EXPECT_GT(covered, runs * 0.93);
}

}  // namespace
}  // namespace heapgauge
