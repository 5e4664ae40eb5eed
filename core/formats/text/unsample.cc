#include "core/formats/text/unsample.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/arch.h"

namespace heapgauge {
namespace {

// 2 to the power of `exponent`. REQUIRES: the result is a normal number.
double PowerOfTwo(int exponent) {
  const uint64_t bits = static_cast<uint64_t>(exponent + 1023) << 52;
  double result;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}

// exp(x) as Go's library has it on x86-64, bit for bit: x is brought near zero by a multiple of
// ln 2 and by a sixteenth; there the Taylor series of exp(x)-1 is cut after nine terms, and four
// times (1+y)^2-1 = y(2+y) undoes the sixteenth. With FMA instructions the roundings are others
// than without, and Go takes them where the processor has them. REQUIRES: x <= 0.
double GoExp(double x) {
  static const bool has_fma = arch::HasFusedMultiply();
  const auto multiply_add = [](double a, double b, double c) {
    return has_fma ? std::fma(a, b, c) : a * b + c;
  };
  constexpr double kLog2E = 1.4426950408889634073599246810018920;
  // ln 2 in two parts, the first with zeros at its end so that multiples are exact.
  constexpr double kLn2High = 0.69314718055966295651160180568695068359375;
  constexpr double kLn2Low = 0.28235290563031577122588448175013436025525412068e-12;
  if (!(x > -700)) return 0;  // nothing beside one
  const double exponent = std::nearbyint(x * kLog2E);
  x = multiply_add(-exponent, kLn2High, x);
  x = multiply_add(-exponent, kLn2Low, x);
  x *= 0.0625;
  // 1/8!, 1/7!, ... 1/2!, 1
  constexpr double kTerms[] = {2.4801587301587301587e-5,
                               1.9841269841269841270e-4,
                               1.3888888888888888889e-3,
                               8.3333333333333333333e-3,
                               4.1666666666666666667e-2,
                               1.6666666666666666667e-1,
                               0.5,
                               1.0};
  double sum = kTerms[0];
  for (int i = 1; i < 8; ++i) sum = multiply_add(sum, x, kTerms[i]);
  double y = x * sum;
  for (int i = 0; i < 3; ++i) y *= y + 2;
  y = multiply_add(y, y + 2, 1);
  return y * PowerOfTwo(static_cast<int>(exponent));
}

// How much one sampled block of `size` bytes stands for.
double Factor(double size, const Sampling& sampling) {
  const double ratio = size / sampling.rate;
  if (sampling.method == Sampling::Method::kLinear) return ratio < 1 ? 1 / ratio : 1;
  return 1 / (1 - std::exp(-ratio));
}

Estimate Certain(double value) { return {value, 0, 0, std::max(0.0, value), 0}; }

int64_t Sum(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? -std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::max();
}

}  // namespace

void CountAndSize::Add(const CountAndSize& other) {
  count = Sum(count, other.count);
  size = Sum(size, other.size);
}

int64_t CutToWhole(double value) {
  constexpr double kLimit = 9223372036854775808.0;
  if (std::isnan(value)) return 0;
  if (value >= kLimit) return std::numeric_limits<int64_t>::max();
  if (value <= -kLimit) return -std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(value);
}

CountAndSize PprofUnsample(CountAndSize sampled, int64_t rate) {
  if (sampled.count == 0 || sampled.size == 0) return {};
  if (rate <= 1) return sampled;
  const auto count = static_cast<double>(sampled.count);
  const auto size = static_cast<double>(sampled.size);
  const double mean = size / count;
  // A negative mean size makes no sense in any tool; it must only do no harm.
  const double exponent = -mean / static_cast<double>(rate);
  const double factor = 1 / (1 - (exponent <= 0 ? GoExp(exponent) : std::exp(exponent)));
  return {CutToWhole(count * factor), CutToWhole(size * factor)};
}

EstimatedPair Unsample(CountAndSize sampled, const Sampling& sampling) {
  const auto count = static_cast<double>(sampled.count);
  const auto size = static_cast<double>(sampled.size);
  if (!sampling.scales()) return {Certain(count), Certain(size)};
  if (sampled.count == 0 || sampled.size == 0) return {};
  const double mean = size / count;
  const double factor = Factor(mean, sampling);
  const double scaled_count = count * factor;
  const double scaled_size = size * factor;
  // Opposite signs, or a mean size so small that nothing remains of the probability.
  if (!(mean > 0) || !std::isfinite(scaled_count) || !std::isfinite(scaled_size)) {
    return {Certain(count), Certain(size)};
  }
  const double blocks = std::fabs(count);
  // 1/p^2 - 1/p for each block, with p = 1/factor.
  const double variance = blocks * factor * (factor - 1);
  EstimatedPair pair;
  pair.count = {scaled_count, variance, factor - 1, std::max(0.0, count), variance};
  const double size_variance = variance * mean * mean;
  pair.size = {scaled_size, size_variance, mean * (factor - 1), std::max(0.0, size),
               size_variance * mean};
  if (!std::isfinite(pair.size.block_variance)) return {Certain(count), Certain(size)};
  return pair;
}

}  // namespace heapgauge
