#include "core/fold/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace heapgauge {
namespace {

constexpr double kEpsilon = 1e-14;
constexpr int kMaxSteps = 2000;
// Above this shape the cube-root approximation is as good as the iteration and far cheaper.
constexpr double kLargeShape = 5000;

// The density at x, up to rounding: x^(shape-1) e^-x / Gamma(shape).
double Density(double shape, double x) {
  return std::exp((shape - 1) * std::log(x) - x - LogGamma(shape));
}

// Sum of x^n / (shape (shape+1) ... (shape+n)); converges fast for x < shape + 1.
double BelowBySeries(double shape, double x) {
  double term = 1 / shape;
  double sum = term;
  for (int n = 1; n < kMaxSteps; ++n) {
    term *= x / (shape + n);
    sum += term;
    if (term < sum * kEpsilon) break;
  }
  return std::min(1.0, sum * x * Density(shape, x));
}

// The tail as a continued fraction, evaluated from the front (Lentz); for x >= shape + 1.
double AboveByFraction(double shape, double x) {
  constexpr double kTiny = 1e-300;
  double b = x + 1 - shape;
  double c = 1 / kTiny;
  double d = 1 / b;
  double h = d;
  for (int n = 1; n < kMaxSteps; ++n) {
    const double a = -n * (n - shape);
    b += 2;
    d = a * d + b;
    if (std::fabs(d) < kTiny) d = kTiny;
    c = b + a / c;
    if (std::fabs(c) < kTiny) c = kTiny;
    d = 1 / d;
    const double factor = c * d;
    h *= factor;
    if (std::fabs(factor - 1) < kEpsilon) break;
  }
  return std::min(1.0, h * x * Density(shape, x));
}

// Wilson and Hilferty: the cube root of a gamma variable is close to normal.
double CubeRootQuantile(double shape, double p) {
  const double root = 1 - 1 / (9 * shape) + NormalQuantile(p) / (3 * std::sqrt(shape));
  return root > 0 ? shape * root * root * root : 0;
}

}  // namespace

double LogGamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

double GammaBelow(double shape, double x) {
  if (!(x > 0)) return 0;
  if (std::isinf(x)) return 1;
  return x < shape + 1 ? BelowBySeries(shape, x) : 1 - AboveByFraction(shape, x);
}

double NormalQuantile(double p) {
  // Newton on erfc, which the C library gives to full precision; works in the lower half, where
  // no digits cancel.
  if (p > 0.5) return -NormalQuantile(1 - p);
  const double t = std::sqrt(-2 * std::log(p));
  double z = -t + 0.5;  // within a unit of the answer for all p in (0, 1/2]
  for (int i = 0; i < 60; ++i) {
    const double below = 0.5 * std::erfc(-z / std::sqrt(2.0));
    const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * M_PI);
    if (!(density > 0)) break;
    // Halley's correction keeps the step from overshooting in the far tail.
    const double newton = (below - p) / density;
    const double step = newton / std::max(0.5, 1 + 0.5 * z * newton);
    z -= step;
    if (std::fabs(step) < 1e-13 * std::max(1.0, std::fabs(z))) break;
  }
  return z;
}

double GammaQuantile(double shape, double p) {
  if (shape > kLargeShape) return CubeRootQuantile(shape, p);
  // Bracket, then Newton from the approximation; a step out of the bracket becomes a bisection.
  double low = 0;
  double high = shape + 10 * std::sqrt(shape) + 10;
  while (GammaBelow(shape, high) < p) high *= 2;
  double x = CubeRootQuantile(shape, p);
  if (!(x > 0) || shape < 0.3) {
    // Near zero the distribution is x^shape / Gamma(shape + 1).
    x = std::exp((std::log(p) + LogGamma(shape + 1)) / shape);
    if (!(x > 0)) return 0;  // below the smallest double
  }
  if (!(x < high)) x = high / 2;
  for (int i = 0; i < 200; ++i) {
    const double error = GammaBelow(shape, x) - p;
    (error > 0 ? high : low) = x;
    double next = x - error / Density(shape, x);
    if (!(next > low && next < high)) next = (low + high) / 2;
    if (std::fabs(next - x) <= 1e-13 * x) return next;
    x = next;
  }
  return x;
}

namespace {

constexpr double kTail = 0.025;

// The quantile of the gamma distribution with that mean and variance.
double Quantile(double mean, double variance, double p) {
  if (!(mean > 0)) return 0;
  if (!(variance > mean * mean * 1e-18)) return mean;
  // Shapes below 1/1000 cannot come from samples, only from a damaged file.
  const double shape = std::max(mean * mean / variance, 1e-3);
  return mean / shape * GammaQuantile(shape, p);
}

}  // namespace

Interval Interval95(const Estimate& e) {
  const double missed = std::max(e.value - e.floor, 0.0);
  const double block = e.variance > 0 ? e.block_variance / e.variance : 0;
  Interval interval;
  interval.low = e.floor + std::max(Quantile(missed, e.variance, kTail) - block, 0.0);
  interval.high = e.floor + Quantile(missed + e.step, e.variance + e.step * e.step, 1 - kTail);
  interval.low = std::min(interval.low, e.value);
  interval.high = std::max(interval.high, e.value);
  return interval;
}

Estimate NothingSampled(double interval_bytes) { return {0, 0, interval_bytes, 0}; }

namespace {

// The continued fraction of the incomplete beta function, evaluated from the front (Lentz). It
// converges within about sqrt(max(a, b)) steps for x < (a + 1) / (a + b + 2).
double Fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMostSteps = 20000;
  const auto bounded = [](double v) { return std::fabs(v) < kTiny ? kTiny : v; };
  double c = 1;
  double d = 1 / bounded(1 - (a + b) * x / (a + 1));
  double h = d;
  for (int m = 1; m < kMostSteps; ++m) {
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
double BetaQuantile(double a, double b, double p) {
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
  if (k > 0) share.low = BetaQuantile(k, n - k + 1, kTail);
  if (k < n) share.high = BetaQuantile(k + 1, n - k, 1 - kTail);
  return share;
}

Rise RiseOf(const std::vector<double>& values) {
  std::vector<double> times(values.size());
  std::iota(times.begin(), times.end(), 0.0);
  return RiseOf(values, times);
}

Rise RiseOf(const std::vector<double>& values, const std::vector<double>& times) {
  Rise rise;
  const size_t n = values.size();
  if (n < 4) return rise;
  std::vector<double> slopes;
  slopes.reserve(n * (n - 1) / 2);
  double score = 0;
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = i + 1; k < n; ++k) {
      const double change = values[k] - values[i];
      score += change > 0 ? 1 : change < 0 ? -1 : 0;
      if (times[k] > times[i]) slopes.push_back(change / (times[k] - times[i]));
    }
  }
  const auto term = [](double m) { return m * (m - 1) * (2 * m + 5); };
  double variance = term(static_cast<double>(n));
  std::map<double, double> ties;
  for (const double value : values) ++ties[value];
  for (const auto& [value, count] : ties) variance -= term(count);
  variance /= 18;
  if (slopes.empty()) return rise;
  std::sort(slopes.begin(), slopes.end());
  const double pairs = static_cast<double>(slopes.size());
  const auto at = [&](double rank) {
    return slopes[static_cast<size_t>(std::clamp(rank, 0.0, pairs - 1))];
  };
  rise.slope = (at((pairs - 1) / 2) + at(pairs / 2)) / 2;
  const double deviation = std::sqrt(std::max(variance, 0.0));
  rise.slope_95 = {at(std::floor((pairs - 1.96 * deviation) / 2)),
                   at(std::ceil((pairs + 1.96 * deviation) / 2))};
  if (deviation > 0) {
    rise.p = 0.5 * std::erfc((score - 1) / deviation / std::sqrt(2.0));
  }
  return rise;
}

}  // namespace heapgauge
