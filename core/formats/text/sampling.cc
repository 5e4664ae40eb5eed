#include "core/formats/text/sampling.h"

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

namespace {

struct Figures {
  double count = 0;
  double size = 0;
};

int64_t Whole(double value) { return CutToWhole(std::round(value)); }

// What readers make of a line.
Figures Read(CountAndSize line, double rate) {
  if (line.count == 0 || line.size == 0) return {};
  const auto count = static_cast<double>(line.count);
  const auto size = static_cast<double>(line.size);
  const double factor = -1 / std::expm1(-(size / count) / rate);
  return {count * factor, size * factor};
}

// The mean size at which `samples` stand for `size` bytes: m with samples * m / (1 - exp(-m/R)) =
// size. REQUIRES: size >= samples * rate.
double MeanForSize(double samples, double size, double rate) {
  double low = 0;
  double high = size / samples;
  for (int i = 0; i < 60 && high - low > 1e-3; ++i) {
    const double mean = (low + high) / 2;
    (samples * mean / -std::expm1(-mean / rate) < size ? low : high) = mean;
  }
  return (low + high) / 2;
}

class Search {
 public:
  Search(double count, double size, double rate) : count_(count), size_(size), rate_(rate) {}

  void Try(CountAndSize first, CountAndSize second = {}) {
    if (first.count < 1 || first.size < 1 || second.count < 0 || second.size < 0) return;
    const Figures a = Read(first, rate_);
    const Figures b = Read(second, rate_);
    const double size_error = a.size + b.size - size_;
    const double error =
        std::fabs(size_error) / size_ + std::fabs(a.count + b.count - count_) / count_;
    if (!(error < error_)) return;
    error_ = error;
    best_ = {{first, second}, size_error};
  }

  // `samples` and a size that fits either the mean of all, or the bytes alone.
  void TrySamples(double samples) {
    if (samples < 1) return;
    const int64_t whole = Whole(samples);
    Try({whole, Whole(samples * size_ / count_)});
    if (size_ >= samples * rate_) {
      Try({whole, Whole(samples * MeanForSize(samples, size_, rate_))});
    }
  }

  // Small blocks in the first line, one larger block in the second.
  void TrySplit(double small_samples) {
    if (small_samples < 1) return;
    // What the first line stands for in bytes depends on its mean size, which depends on what the
    // second has in blocks; a few rounds settle it.
    double small_size = small_samples * rate_;
    for (int round = 0; round < 3; ++round) {
      const double large_size = size_ - small_size;
      if (large_size < rate_) return;
      const double large_mean = MeanForSize(1, large_size, rate_);
      if (large_mean < 1) return;
      const double small_count = count_ - large_size / large_mean;
      if (small_count <= small_samples) return;
      const double mean = -rate_ * std::log1p(-small_samples / small_count);
      const CountAndSize first{Whole(small_samples),
                               std::max<int64_t>(1, Whole(small_samples * mean))};
      small_size = Read(first, rate_).size;
      if (size_ - small_size < rate_) return;
      Try(first, {1, Whole(MeanForSize(1, size_ - small_size, rate_))});
    }
  }

  double error() const { return error_; }
  const Resampled& best() const { return best_; }

 private:
  double count_;
  double size_;
  double rate_;
  double error_ = HUGE_VAL;
  Resampled best_;
};

}  // namespace

Resampled Resample(double count, double size, int64_t rate) {
  Resampled exact;
  exact.lines[0] = {Whole(count), Whole(size)};
  // Readers refuse bytes without a block.
  if (exact.lines[0].count == 0 && exact.lines[0].size != 0) exact.lines[0].count = 1;
  if (rate <= 1) return exact;
  // Differences are not sampled; scaled by readers all the same, they keep their sign at least.
  if (count < 0 || size < 0) {
    Resampled mirrored = Resample(std::fabs(count), std::fabs(size), rate);
    for (CountAndSize& line : mirrored.lines) line = {-line.count, -line.size};
    mirrored.size_error = -mirrored.size_error;
    return mirrored;
  }
  if (exact.lines[0].size == 0) return {};
  count = std::max(count, 1e-3);
  const auto r = static_cast<double>(rate);
  const double samples = count * -std::expm1(-size / count / r);
  Search search(count, size, r);
  search.TrySamples(std::max(1.0, std::round(samples)));
  constexpr double kGood = 1e-3;
  if (search.error() > kGood) {
    search.TrySamples(std::floor(samples));
    search.TrySamples(std::ceil(samples));
    const double multiple = std::floor(size / r);
    search.TrySamples(multiple);
    for (const double part : {multiple - 1, multiple - 2, std::floor(multiple / 2), 1.0}) {
      search.TrySplit(part);
    }
  }
  return search.best();
}

}  // namespace heapgauge
