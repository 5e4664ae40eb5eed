// The beta distribution, and what it says of shares: how probable so many of so many are, and
// between which limits a share lies that was seen on few.
//
// Counts need not be whole: where samples weigh differently, the numbers of as many equal ones are
// put in. Pure functions, accurate to about 1e-12.
#pragma once

#include "core/fold/interval.h"

namespace heapgauge {

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

}  // namespace heapgauge
