// How sure a sampled figure is: its 95 % interval. Shown with every figure of every report, so that
// a row that rests on two samples does not look like one that rests on two thousand.
//
// What was sampled is known exactly; the question is only how much was missed. For that part the
// gamma interval of Fay and Feuer for weighted Poisson sums is used. Unlike value ± 1.96 standard
// deviations it holds for a handful of samples as well, never reaches below what was seen, and
// allows for what one more sample could have added. Missed memory comes in whole blocks, so where
// blocks are large the lower end allows for one block less. Pure functions.
#pragma once

#include "core/model/estimate.h"

namespace heapgauge {

struct Interval {
  double low = 0;
  double high = 0;
};

// The interval that holds the true value in at least 95 of 100 profiles.
Interval Interval95(const Estimate& estimate);

// The estimate for "nothing was sampled" at this interval: 0, and up to 3.7 intervals may be there.
Estimate NothingSampled(double interval_bytes);

}  // namespace heapgauge
