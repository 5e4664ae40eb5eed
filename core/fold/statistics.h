// How sure figures are: gamma and beta distributions, intervals of sampled figures and of shares,
// trends of values in time.
//
// Pure functions.
#pragma once

#include <vector>

#include "core/model/estimate.h"

namespace heapgauge {

// The gamma distribution with a real-valued shape: what intervals around sums of few samples need.
//
// Accurate to about 1e-9 relative up to shape 5000 and to 1e-6 above.

// The logarithm of the gamma function of x > 0. std::lgamma writes a global sign, which is a data
// race; this one does not.
double LogGamma(double x);

// The share of a gamma distribution of that shape (scale 1) below x: the regularised lower
// incomplete gamma function P(shape, x). REQUIRES: shape > 0, x >= 0.
double GammaBelow(double shape, double x);

// The x below which the share `p` lies. REQUIRES: shape > 0, 0 < p < 1.
double GammaQuantile(double shape, double p);

// The z below which the share `p` of a standard normal distribution lies. REQUIRES: 0 < p < 1.
double NormalQuantile(double p);

// How sure a sampled figure is: its 95 % interval. Shown with every figure of every report, so that
// a row that rests on two samples does not look like one that rests on two thousand.
//
// What was sampled is known exactly; the question is only how much was missed. For that part the
// gamma interval of Fay and Feuer for weighted Poisson sums is used. Unlike value ± 1.96 standard
// deviations it holds for a handful of samples as well, never reaches below what was seen, and
// allows for what one more sample could have added. Missed memory comes in whole blocks, so where
// blocks are large the lower end allows for one block less.
struct Interval {
  double low = 0;
  double high = 0;
};

// The interval that holds the true value in at least 95 of 100 profiles.
Interval Interval95(const Estimate& estimate);

// The estimate for "nothing was sampled" at this interval: 0, and up to 3.7 intervals may be there.
Estimate NothingSampled(double interval_bytes);

// The beta distribution, and what it says of shares: how probable so many of so many are, and
// between which limits a share lies that was seen on few.
//
// Counts need not be whole: where samples weigh differently, the numbers of as many equal ones are
// put in. Accurate to about 1e-12.

// The share of a beta distribution below x: the regularised incomplete beta function I_x(a, b).
// REQUIRES: a > 0, b > 0.
double BetaBelow(double a, double b, double x);

// Of `n` that each have the property with probability `p`, the probability that at least (at most)
// `k` have it. REQUIRES: n >= 0, 0 <= p <= 1.
double BinomialAtLeast(double k, double n, double p);
double BinomialAtMost(double k, double n, double p);

// The share that lies behind k of n, by Clopper and Pearson: the shares that make neither so many
// nor so few improbable, 2.5 % on each side. Never too narrow. 0 to 1 if there is none.
Interval Share95(double k, double n);

// Whether values that were taken one after the other rise, and how fast, without asking how they
// are distributed: Mann and Kendall's test, and the slope of Theil and Sen. One wild value in ten
// moves neither.
//
// Time is the square of the number of values, which should be a few dozen.
struct Rise {
  // How probable it is that values without a trend go up as much: of all pairs, those that rise
  // minus those that fall, over what chance gives. 1 for fewer than four values.
  double p = 1;
  double slope = 0;  // from one value to the next: the median of the slopes of all pairs
  Interval slope_95;
};

Rise RiseOf(const std::vector<double>& values);
// Values of any times: slopes are for one unit of time. REQUIRES: as many times, none before the
// one in front of it. Of values of the same time there is no slope.
Rise RiseOf(const std::vector<double>& values, const std::vector<double>& times);

}  // namespace heapgauge
