#include "core/fold/beta.h"

#include <algorithm>
#include <cmath>

#include "core/fold/gamma.h"

namespace heapgauge {
namespace {

constexpr double kTail = 0.025;

// The continued fraction of the incomplete beta function, evaluated from the front (Lentz). It
// converges within about sqrt(max(a, b)) steps for x < (a + 1) / (a + b + 2).
double Fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr double kEpsilon = 1e-14;
  constexpr int kMaxSteps = 20000;
  const auto bounded = [](double v) { return std::fabs(v) < kTiny ? kTiny : v; };
  double c = 1;
  double d = 1 / bounded(1 - (a + b) * x / (a + 1));
  double h = d;
  for (int m = 1; m < kMaxSteps; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / bounded(1 + even * d);
    c = bounded(1 + even / c);
    h *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / bounded(1 + odd * d);
    c = bounded(1 + odd / c);
    h *= d * c;
    if (std::fabs(d * c - 1) < kEpsilon) break;
  }
  return h;
}

// By halving: monotonous, and called a few times for each line of a report.
double Quantile(double a, double b, double p) {
  double low = 0;
  double high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (BetaBelow(a, b, middle) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

double BetaBelow(double a, double b, double x) {
  if (!(x > 0)) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(LogGamma(a + b) - LogGamma(a) - LogGamma(b) + a * std::log(x) + b * std::log1p(-x));
  const double below = x < (a + 1) / (a + b + 2) ? front * Fraction(a, b, x) / a
                                                 : 1 - front * Fraction(b, a, 1 - x) / b;
  return std::clamp(below, 0.0, 1.0);
}

double BinomialAtLeast(double k, double n, double p) {
  if (!(k > 0)) return 1;
  if (k > n) return 0;
  return BetaBelow(k, n - k + 1, p);
}

double BinomialAtMost(double k, double n, double p) {
  if (k >= n) return 1;
  if (k < 0) return 0;
  return BetaBelow(n - k, k + 1, 1 - p);
}

Interval Share95(double k, double n) {
  if (!(n > 0)) return {0, 1};
  k = std::clamp(k, 0.0, n);
  Interval share{0, 1};
  if (k > 0) share.low = Quantile(k, n - k + 1, kTail);
  if (k < n) share.high = Quantile(k + 1, n - k, 1 - kTail);
  return share;
}

}  // namespace heapgauge
