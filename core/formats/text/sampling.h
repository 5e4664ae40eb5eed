// What sampled counts stand for, and the way back to counts for figures that are known.
//
// Pure functions.
#pragma once

#include <array>
#include <cstdint>

#include "core/model/estimate.h"

namespace heapgauge {

// What sampled counts of the text formats stand for.
//
// A row has n blocks of s bytes together that were taken by a sampler with a mean of R bytes
// between samples. Each tool has its own way to what the program allocated, and for reports that
// agree with theirs to the last digit it matters how:
//
//   pprof          n and s are divided by 1 - exp(-(s/n)/R), then cut to whole numbers. Its
//                  exp() is not the C library's and differs in the last bits, which a division by a
//                  small difference brings forward: in a large profile some rows would be off by
//                  one.
//   perl tools     the same without cutting; for the first version of the format, in which the gaps
//                  were not exponential, n and s are divided by (s/n)/R where that is below one.
struct Sampling {
  enum class Method { kExact, kPoisson, kLinear };
  Method method = Method::kExact;
  double rate = 0;  // mean bytes between samples

  bool scales() const { return method != Method::kExact && rate > 1; }
};

struct CountAndSize {
  int64_t count = 0;
  int64_t size = 0;

  // What does not fit is the largest number that does.
  void Add(const CountAndSize& other);
};

// pprof's whole numbers for a Poisson sampler; what does not fit is the largest number that does.
CountAndSize PprofUnsample(CountAndSize sampled, int64_t rate);

// Cut to a whole number; what does not fit is the largest number that does, with its sign.
int64_t CutToWhole(double value);

struct EstimatedPair {
  Estimate count;
  Estimate size;
};
// With how sure they are: n blocks of the mean size, each sampled by itself.
EstimatedPair Unsample(CountAndSize sampled, const Sampling& sampling);

// Whole numbers of samples for figures that are known: the way back, for writers of the
// sampled text formats. Readers scale every line by 1/(1 - exp(-(s/n)/R)), so what is written
// has to be chosen such that this gives the right result.
//
// If all blocks of a row had one size, the samples that were taken are the answer. If sizes were
// mixed, no whole number of samples fits, and the error of the nearest is large where samples are
// few. Then a row is written as two lines: one has the many small blocks, which stand for a
// multiple of the rate, the other a larger block that makes up for the rest. Readers add the lines.
struct Resampled {
  std::array<CountAndSize, 2> lines;  // the second is often empty
  double size_error = 0;              // bytes that readers will see too many or too few
};

// Samples at a mean distance of `rate` bytes that stand for `count` blocks of `size` bytes
// together. With a rate of 1 or less, the figures themselves.
Resampled Resample(double count, double size, int64_t rate);

}  // namespace heapgauge
