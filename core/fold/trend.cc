#include "core/fold/trend.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace heapgauge {

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
