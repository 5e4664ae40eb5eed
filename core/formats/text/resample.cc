#include "core/formats/text/resample.h"

#include <algorithm>
#include <cmath>

namespace heapgauge {
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
