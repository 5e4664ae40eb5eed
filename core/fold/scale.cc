#include "core/fold/scale.h"

#include <algorithm>
#include <cmath>

#include "core/model/keep_rows.h"

namespace heapgauge {
namespace {

int64_t Rounded(double value) {
  constexpr double kMost = 9.2e18;
  if (std::isnan(value)) return 0;
  return static_cast<int64_t>(std::round(std::clamp(value, -kMost, kMost)));
}

Estimate Scaled(Estimate e, double ratio) {
  e.value *= ratio;
  e.floor *= ratio;
  e.step *= std::abs(ratio);
  e.variance *= ratio * ratio;
  e.block_variance *= ratio * ratio;
  return e;
}

}  // namespace

void ScaleProfile(double ratio, Profile* profile) {
  if (ratio == 1) return;
  ScaleProfile(std::vector<double>(profile->sample_types.size(), ratio), profile);
}

void ScaleProfile(const std::vector<double>& ratios, Profile* profile) {
  const size_t types = profile->sample_types.size();
  if (std::all_of(ratios.begin(), ratios.end(), [](double ratio) { return ratio == 1; })) return;
  std::vector<bool> keep(profile->rows.size());
  bool all = true;
  for (RowId row = 0; row < profile->rows.size(); ++row) {
    bool any = false;
    for (size_t type = 0; type < types; ++type) {
      if (ratios[type] == 1) continue;
      int64_t& value = profile->value(row, type);
      value = Rounded(static_cast<double>(value) * ratios[type]);
      any = any || value != 0;
      if (profile->estimates.empty()) continue;
      Estimate& estimate = profile->estimates[row * types + type];
      estimate = Scaled(estimate, ratios[type]);
      // Where the sampling is known, a figure below one half is still a figure.
      any = any || estimate.value != 0;
    }
    keep[row] = any;
    all = all && any;
  }
  if (!all) KeepRows(keep, profile);
}

Status NormalizeTo(const Profile& base, Profile* profile) {
  const size_t types = profile->sample_types.size();
  const auto same = [](const SampleType& a, const SampleType& b) {
    return a.name == b.name && a.unit == b.unit;
  };
  if (!std::equal(base.sample_types.begin(), base.sample_types.end(), profile->sample_types.begin(),
                  profile->sample_types.end(), same)) {
    return Fail(ErrorCode::kInvalidArgument,
                "the profiles have different sample types, so one cannot be scaled to the other");
  }
  const auto sums = [types](const Profile& p) {
    std::vector<uint64_t> sum(types);  // wraps round as pprof's does
    for (size_t i = 0; i < p.values.size(); ++i) {
      sum[i % types] += static_cast<uint64_t>(p.values[i]);
    }
    return sum;
  };
  const std::vector<uint64_t> wanted = sums(base);
  const std::vector<uint64_t> has = sums(*profile);
  std::vector<double> ratios(types);
  for (size_t i = 0; i < types; ++i) {
    if (has[i] == 0) continue;
    ratios[i] = static_cast<double>(static_cast<int64_t>(wanted[i])) /
                static_cast<double>(static_cast<int64_t>(has[i]));
  }
  ScaleProfile(ratios, profile);
  return {};
}

}  // namespace heapgauge
