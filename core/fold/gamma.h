// The gamma distribution with a real-valued shape: what intervals around sums of few samples need.
//
// Pure functions, accurate to about 1e-9 relative up to shape 5000 and to 1e-6 above.
#pragma once

namespace heapgauge {

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

}  // namespace heapgauge
