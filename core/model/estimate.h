// A figure that was estimated from samples, with what is needed to say how sure it is.
//
// Sampling is Poisson in bytes: with a mean of T bytes between samples, a block of s bytes is taken
// with probability p = 1 - exp(-s/T). A block that was taken stands for 1/p blocks and s/p bytes,
// which makes sums unbiased whatever the mix of sizes. Its contribution to the variance of the sum
// of bytes is s^2 (1-p) / p^2. docs/sampling.md derives this; core/fold/statistics.h turns it
// into ranges.
//
// Estimates add up: the sum of independent figures is the sum of all members but `step`, which is
// the largest. Plain values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace heapgauge {

struct Estimate {
  double value = 0;
  double variance = 0;
  double step = 0;   // what one more sample of the least certain kind could have added
  double floor = 0;  // what was seen with certainty: the estimated quantity is not below this
  // Sum of variance times the size of the block it comes from: over the variance, the size of the
  // blocks that the uncertainty is about.
  double block_variance = 0;

  void Add(const Estimate& other) {
    value += other.value;
    variance += other.variance;
    step = std::max(step, other.step);
    floor += other.floor;
    block_variance += other.block_variance;
  }
};

// What one sampled block stands for.
struct SampleWeight {
  double objects = 0;           // 1/p
  double bytes = 0;             // s/p
  double objects_variance = 0;  // (1-p)/p^2
  double bytes_variance = 0;
  double objects_step = 0;  // (1-p)/p
  double bytes_step = 0;    // s(1-p)/p, never above the interval
};

// A size of 0 counts as 1 byte: the allocator gives a block for it all the same.
inline SampleWeight WeightOf(uint64_t size, uint64_t interval) {
  const double s = size == 0 ? 1 : static_cast<double>(size);
  if (interval == 0) return {.objects = 1, .bytes = s};
  const double t = static_cast<double>(interval);
  const double p = -std::expm1(-s / t);
  const double q = std::exp(-s / t);
  SampleWeight w;
  w.objects = 1 / p;
  w.bytes = s / p;
  w.objects_variance = q / (p * p);
  w.bytes_variance = s * s * w.objects_variance;
  w.objects_step = q / p;
  w.bytes_step = s * q / p;
  return w;
}

inline Estimate BytesEstimate(uint64_t size, const SampleWeight& w) {
  const double s = static_cast<double>(size);
  return {w.bytes, w.bytes_variance, w.bytes_step, s, s * w.bytes_variance};
}
inline Estimate ObjectsEstimate(const SampleWeight& w) {
  return {w.objects, w.objects_variance, w.objects_step, 1, w.objects_variance};
}

}  // namespace heapgauge
