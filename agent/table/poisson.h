// Poisson sampling in bytes: how far it is to the next sample, and what a sample stands for.
//
// Every byte that is allocated is a sample point with the same small probability, whatever block it
// belongs to. So the distance between samples is exponential with mean T (the interval), a block
// of s bytes is taken with probability p = 1 - exp(-s/T), and counting each taken block 1/p times
// gives unbiased totals for any mixture of sizes. The exponential has no memory: at any block's
// start the distance may be drawn anew, also with another T, without changing what later blocks can
// expect.
//
// Own logarithm and exponential: the agent links no libm. Pure functions, no state.
#pragma once

#include <bit>
#include <cstdint>

namespace heapgauge::agent {

// Natural logarithm for x > 0, relative error below 1e-13.
inline double NaturalLog(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double mantissa =
      std::bit_cast<double>((bits & ((uint64_t{1} << 52) - 1)) | uint64_t{1023} << 52);
  if (mantissa > 1.4142135623730951) {
    mantissa *= 0.5;
    ++exponent;
  }
  // ln m = 2 artanh((m - 1) / (m + 1)), |z| <= 0.1716
  const double z = (mantissa - 1) / (mantissa + 1);
  const double z2 = z * z;
  double sum = 0;
  for (int k = 17; k >= 1; k -= 2) sum = sum * z2 + 1.0 / k;
  return 2 * z * sum + exponent * 0.6931471805599453;
}

// 1 - exp(-x) for x >= 0, without cancellation for small x.
inline double OneMinusExp(double x) {
  if (x > 40) return 1;
  // exp(-x) = 2^-k exp(-r) with 0 <= r < ln 2; 1 - exp(-r) by its series.
  const int k = static_cast<int>(x * 1.4426950408889634);
  const double r = x - k * 0.6931471805599453;
  double sum = 0;
  for (int n = 18; n >= 2; --n) sum = (sum + 1) * (-r / n);
  const double small = r * (1 + sum);
  if (k == 0) return small;
  const double scale = std::bit_cast<double>(static_cast<uint64_t>(1023 - k) << 52);
  return 1 - scale * (1 - small);
}

// The next 64 random bits; `state` may start at any value.
inline uint64_t NextRandom(uint64_t* state) {
  *state += 0x9E3779B97F4A7C15;
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

// Bytes to the next sample point, exponential with the given mean.
inline uint64_t NextGap(uint64_t* random_state, uint64_t interval) {
  const double uniform =  // in (0, 1]
      (static_cast<double>(NextRandom(random_state) >> 11) + 1) * (1.0 / 9007199254740992.0);
  const double gap = -NaturalLog(uniform) * static_cast<double>(interval);
  return static_cast<uint64_t>(gap);
}

struct Weight {
  double objects;   // 1 / p
  double bytes;     // size / p
  double variance;  // of the byte estimate: size^2 (1 - p) / p^2
};

inline Weight WeightOf(uint64_t size, uint64_t interval) {
  if (size == 0) return {1, 0, 0};
  const double s = static_cast<double>(size);
  const double p = OneMinusExp(s / static_cast<double>(interval));
  return {1 / p, s / p, s * s * (1 - p) / (p * p)};
}

}  // namespace heapgauge::agent
