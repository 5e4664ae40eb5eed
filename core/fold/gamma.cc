#include "core/fold/gamma.h"

#include <algorithm>
#include <cmath>
#include <limits>

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

}  // namespace heapgauge
