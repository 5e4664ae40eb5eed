#include "core/fold/measures.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "core/base/large_memory.h"
#include "core/base/numbers.h"
#include "core/base/text.h"
#include "core/base/threads.h"

namespace heapgauge {
namespace {

size_t FirstOf(const Profile& profile, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const size_t at = profile.FindType(name);
    if (at < profile.sample_types.size()) return at;
  }
  return kNone;
}

// Figures of a trace or a leak check beside live and allocated memory, as headings have them.
struct TraceFigure {
  std::string_view prefix;  // of its two sample types
  std::string_view name;
};
constexpr TraceFigure kTraceFigures[] = {
    {"peak", "at peak"},
    {"freed", "freed"},
    {"growth", "growth"},
    {"temporary", "temporary"},
    {"lifetime", "lifetime"},
    {"left", "left"},
    {"never_freed", "never freed"},
    {"lost", "lost"},
};

const TraceFigure* TraceFigureOf(std::string_view type) {
  for (const TraceFigure& figure : kTraceFigures) {
    if (!type.starts_with(figure.prefix)) continue;
    const std::string_view rest = type.substr(figure.prefix.size());
    if (rest == "_space" || rest == "_objects") return &figure;
  }
  return nullptr;
}

bool IsBytes(const Profile& profile, size_t type) {
  return type != kNone && profile.sample_types[type].unit == "bytes";
}

}  // namespace

Measures MeasuresOf(const Profile& profile) {
  Measures m;
  m.has_samples = std::any_of(profile.rows.begin(), profile.rows.end(), [](const Row& row) {
    return row.samples != 0 || row.live_samples != 0;
  });
  if (profile.sample_types.empty()) return m;
  const size_t shown = profile.DefaultType();
  const size_t live = FirstOf(profile, {"inuse_space", "space", "mmap_space", "pool_space"});
  const size_t live_objects =
      FirstOf(profile, {"inuse_objects", "objects", "mmap_objects", "pool_objects"});
  const size_t allocated =
      FirstOf(profile, {"alloc_space", "mmap_alloc_space", "pool_alloc_space"});
  const size_t allocated_objects =
      FirstOf(profile, {"alloc_objects", "mmap_alloc_objects", "pool_alloc_objects"});
  m.is_memory = IsBytes(profile, live) || IsBytes(profile, allocated);
  if (IsBytes(profile, live) && (shown == live || shown == live_objects || shown == allocated)) {
    m.main = live;
    m.objects = live_objects;
    if (IsBytes(profile, allocated)) m.allocated = allocated;
    m.allocated_objects = allocated_objects;
  } else if (IsBytes(profile, allocated) && shown == allocated) {
    m.main = allocated;
    m.objects = allocated_objects;
    m.name = "allocated";
  } else {
    m.main = shown;
    m.name = profile.sample_types[shown].name;
    if (const TraceFigure* figure = TraceFigureOf(m.name)) {
      m.is_change = figure->prefix == "growth";
      if (m.name.ends_with("_space")) {
        m.objects = FirstOf(profile, {std::string(figure->prefix) + "_objects"});
        if (IsBytes(profile, allocated)) m.allocated = allocated;
        m.allocated_objects = allocated_objects;
      }
      m.name = figure->name;
    }
  }
  m.type = profile.sample_types[m.main].name;
  m.unit = profile.sample_types[m.main].unit;
  return m;
}

Measures CountsOf(const Profile& profile) {
  Measures m = MeasuresOf(profile);
  m.name = m.name == "live" ? "objects" : m.name + " objects";
  m.main = std::exchange(m.objects, kNone);
  m.allocated = m.allocated_objects = kNone;
  m.type = profile.sample_types[m.main].name;
  m.unit = profile.sample_types[m.main].unit;
  return m;
}

Status ChooseType(const std::string& name, Profile* profile) {
  const auto& types = profile->sample_types;
  size_t at = profile->FindType(name);
  if (at == types.size() && name.starts_with("inuse_")) at = profile->FindType(name.substr(6));
  if (at == types.size()) {
    const auto number = NumberIn<size_t>(name);
    if (number && *number < types.size()) at = *number;
  }
  if (at == types.size()) {
    std::string names;
    for (const SampleType& type : types) {
      if (!names.empty()) names += ", ";
      names += Printable(type.name);
    }
    return Fail(ErrorCode::kInvalidArgument,
                "there is no sample type '" + Printable(name) + "'; the profile has " + names);
  }
  profile->default_type = at;
  return {};
}

namespace {

// What a row of final figures tells about the samples behind it.
void EstimatePair(double objects, double bytes, double period, Estimate* of_objects,
                  Estimate* of_bytes) {
  if (!(objects > 0) || !(bytes > 0)) return;
  const double size = bytes / objects;
  const double p = -std::expm1(-size / period);
  const double q = std::exp(-size / period);
  // As many samples as it takes to stand for the objects; at least one was there.
  const double samples = std::max(1.0, std::round(objects * p));
  const double variance = samples * q / (p * p);
  *of_objects = {objects, variance, q / p, samples, variance};
  *of_bytes = {bytes, size * size * variance, size * q / p, samples * size,
               size * size * size * variance};
  of_objects->floor = std::min(of_objects->floor, objects);
  of_bytes->floor = std::min(of_bytes->floor, bytes);
}

}  // namespace

void EstimateFromPeriod(Profile* profile) {
  if (!profile->estimates.empty() || profile->period <= 1 || profile->period_type.name != "space" ||
      profile->period_type.unit != "bytes") {
    return;
  }
  const std::pair<size_t, size_t> pairs[] = {
      {FirstOf(*profile, {"inuse_objects", "objects"}),
       FirstOf(*profile, {"inuse_space", "space"})},
      {FirstOf(*profile, {"alloc_objects"}), FirstOf(*profile, {"alloc_space"})}};
  const auto is_known = [&](const std::pair<size_t, size_t>& pair) {
    return pair.first != kNone && IsBytes(*profile, pair.second);
  };
  if (std::none_of(std::begin(pairs), std::end(pairs), is_known)) return;
  const size_t types = profile->sample_types.size();
  std::vector<Estimate> estimates;
  ReserveHuge(profile->values.size(), &estimates);
  estimates.resize(profile->values.size());
  constexpr size_t kRowsOfPart = 100'000;
  const size_t rows = profile->rows.size();
  const size_t parts = PartsOf(rows, kRowsOfPart);
  InParallel(parts, [&](size_t part) {
    const size_t end = BeginOfPart(rows, part + 1, parts);
    for (size_t row = BeginOfPart(rows, part, parts); row < end; ++row) {
      const int64_t* values = profile->values.data() + row * types;
      Estimate* of_row = estimates.data() + row * types;
      for (size_t i = 0; i < types; ++i) {
        of_row[i].value = of_row[i].floor = static_cast<double>(values[i]);
      }
      for (const auto& pair : pairs) {
        if (!is_known(pair)) continue;
        EstimatePair(static_cast<double>(values[pair.first]),
                     static_cast<double>(values[pair.second]), static_cast<double>(profile->period),
                     &of_row[pair.first], &of_row[pair.second]);
      }
    }
  });
  profile->estimates = std::move(estimates);
}

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
