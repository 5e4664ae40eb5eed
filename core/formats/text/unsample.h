// What sampled counts of the text formats stand for.
//
// A row has n blocks of s bytes together that were taken by a sampler with a mean of R bytes
// between samples. Each tool has its own way to what the program allocated, and for reports that
// agree with theirs to the last digit it matters how:
//
//   pprof          n and s are divided by 1 - exp(-(s/n)/R), then cut to whole numbers. Its exp()
//   is
//                  not the C library's and differs in the last bits, which a division by a small
//                  difference brings forward: in a large profile some rows would be off by one.
//   perl tools     the same without cutting; for the first version of the format, in which the gaps
//                  were not exponential, n and s are divided by (s/n)/R where that is below one.
//
// Pure functions.
#pragma once

#include <cstdint>

#include "core/model/estimate.h"

namespace heapgauge {

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

}  // namespace heapgauge
