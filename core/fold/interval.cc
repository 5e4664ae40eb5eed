#include "core/fold/interval.h"

#include <algorithm>

#include "core/fold/gamma.h"

namespace heapgauge {
namespace {

constexpr double kTail = 0.025;

// The quantile of the gamma distribution with that mean and variance.
double Quantile(double mean, double variance, double p) {
  if (!(mean > 0)) return 0;
  if (!(variance > mean * mean * 1e-18)) return mean;
  // Shapes below 1/1000 cannot come from samples, only from a damaged file.
  const double shape = std::max(mean * mean / variance, 1e-3);
  return mean / shape * GammaQuantile(shape, p);
}

}  // namespace

Interval Interval95(const Estimate& e) {
  const double missed = std::max(e.value - e.floor, 0.0);
  const double block = e.variance > 0 ? e.block_variance / e.variance : 0;
  Interval interval;
  interval.low = e.floor + std::max(Quantile(missed, e.variance, kTail) - block, 0.0);
  interval.high = e.floor + Quantile(missed + e.step, e.variance + e.step * e.step, 1 - kTail);
  interval.low = std::min(interval.low, e.value);
  interval.high = std::max(interval.high, e.value);
  return interval;
}

Estimate NothingSampled(double interval_bytes) { return {0, 0, interval_bytes, 0}; }

}  // namespace heapgauge
