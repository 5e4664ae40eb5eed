// Whole numbers of samples for figures that are known: the way back from unsample.h, for writers of
// the sampled text formats. Readers scale every line by 1/(1 - exp(-(s/n)/R)), so what is written
// has to be chosen such that this gives the right result.
//
// If all blocks of a row had one size, the samples that were taken are the answer. If sizes were
// mixed, no whole number of samples fits, and the error of the nearest is large where samples are
// few. Then a row is written as two lines: one has the many small blocks, which stand for a
// multiple of the rate, the other a larger block that makes up for the rest. Readers add the lines.
//
// Pure functions.
#pragma once

#include <array>
#include <cstdint>

#include "core/formats/text/unsample.h"

namespace heapgauge {

struct Resampled {
  std::array<CountAndSize, 2> lines;  // the second is often empty
  double size_error = 0;              // bytes that readers will see too many or too few
};

// Samples at a mean distance of `rate` bytes that stand for `count` blocks of `size` bytes
// together. With a rate of 1 or less, the figures themselves.
Resampled Resample(double count, double size, int64_t rate);

}  // namespace heapgauge
