#include "core/fold/freed_figures.h"

#include <algorithm>
#include <utility>

#include "core/fold/measures.h"

namespace heapgauge {
namespace {

Estimate Difference(const Estimate& allocated, const Estimate& live) {
  if (!(allocated.value > live.value)) return {};
  Estimate freed;
  freed.value = allocated.value - live.value;
  freed.variance = std::max(0.0, allocated.variance - live.variance);
  freed.step = allocated.step;
  freed.floor = std::clamp(allocated.floor - live.floor, 0.0, freed.value);
  freed.block_variance = std::max(0.0, allocated.block_variance - live.block_variance);
  return freed;
}

bool Tells(const Measures& m) {
  return m.name == "live" && m.has_objects() && m.has_allocated() && m.allocated_objects != kNone;
}

}  // namespace

bool KnowsFreed(const Profile& profile) { return Tells(MeasuresOf(profile)); }

Status AddFreed(bool objects, Profile* profile) {
  const Measures m = MeasuresOf(*profile);
  if (!Tells(m)) {
    return Fail(ErrorCode::kInvalidArgument,
                "this profile does not tell what was freed: it does not count all allocations, or "
                "not what is live");
  }
  const std::pair<size_t, size_t> pairs[] = {{m.allocated_objects, m.objects},
                                             {m.allocated, m.main}};
  const size_t before = profile->sample_types.size();
  const size_t after = before + std::size(pairs);
  const bool estimated = !profile->estimates.empty();
  std::vector<int64_t> values;
  std::vector<Estimate> estimates;
  values.reserve(profile->rows.size() * after);
  if (estimated) estimates.reserve(profile->rows.size() * after);
  for (RowId row = 0; row < profile->rows.size(); ++row) {
    for (size_t type = 0; type < before; ++type) {
      values.push_back(profile->value(row, type));
      if (estimated) estimates.push_back(profile->estimate(row, type));
    }
    for (const auto& [allocated, live] : pairs) {
      values.push_back(
          std::max<int64_t>(0, profile->value(row, allocated) - profile->value(row, live)));
      if (!estimated) continue;
      estimates.push_back(
          Difference(profile->estimate(row, allocated), profile->estimate(row, live)));
    }
  }
  profile->sample_types.push_back({"freed_objects", "count"});
  profile->sample_types.push_back({"freed_space", "bytes"});
  profile->values = std::move(values);
  profile->estimates = std::move(estimates);
  profile->default_type = objects ? before : before + 1;
  return {};
}

}  // namespace heapgauge
