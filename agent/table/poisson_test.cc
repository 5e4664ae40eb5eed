#include "agent/table/poisson.h"

#include <gtest/gtest.h>

#include <cmath>

namespace heapgauge::agent {
namespace {

TEST(Poisson, LogarithmAgreesWithLibm) {
  for (double x = 1e-300; x < 1e300; x *= 1.37) {
    EXPECT_NEAR(NaturalLog(x), std::log(x), 1e-13 * std::fabs(std::log(x)) + 1e-15) << x;
  }
}

TEST(Poisson, OneMinusExpAgreesWithLibm) {
  EXPECT_EQ(OneMinusExp(0), 0);
  for (double x = 1e-18; x < 100; x *= 1.03) {
    EXPECT_NEAR(OneMinusExp(x) / -std::expm1(-x), 1, 1e-13) << x;
  }
}

TEST(Poisson, GapsAreExponential) {
  uint64_t state = 7;
  constexpr int kDraws = 1'000'000;
  constexpr double kMean = 524288;
  double sum = 0, squares = 0;
  int beyond = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double gap = static_cast<double>(NextGap(&state, 524288));
    sum += gap;
    squares += gap * gap;
    beyond += gap > 2 * kMean;
  }
  EXPECT_NEAR(sum / kDraws / kMean, 1, 0.005);
  EXPECT_NEAR(squares / kDraws / (kMean * kMean), 2, 0.03);
  EXPECT_NEAR(beyond / double{kDraws}, std::exp(-2), 0.002);
}

TEST(Poisson, WeightsAreUnbiasedForEverySize) {
  uint64_t state = 11;
  for (const uint64_t size : {1, 64, 4096, 300'000, 5'000'000}) {
    constexpr uint64_t kInterval = 65536;
    const int blocks = size < 4096 ? 3'000'000 : 300'000;
    double objects = 0, bytes = 0;
    uint64_t countdown = NextGap(&state, kInterval);
    for (int i = 0; i < blocks; ++i) {
      if (countdown >= size) {
        countdown -= size;
        continue;
      }
      const Weight weight = WeightOf(size, kInterval);
      objects += weight.objects;
      bytes += weight.bytes;
      countdown = NextGap(&state, kInterval);
    }
    const double p = -std::expm1(-static_cast<double>(size) / kInterval);
    const double tolerance = 5 * std::sqrt((1 - p) / (p * blocks)) + 1e-4;
    EXPECT_NEAR(objects / blocks, 1, tolerance) << size;
    EXPECT_NEAR(bytes / blocks / static_cast<double>(size), 1, tolerance) << size;
  }
}

}  // namespace
}  // namespace heapgauge::agent
