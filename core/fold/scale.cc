#include "core/fold/scale.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "core/base/numbers.h"
#include "core/base/text.h"
#include "core/model/profile.h"

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

namespace {

// "sample" and "samples" are one, and so are "space" (C++) and "inuse_space" (Go).
std::string_view Stem(std::string_view name) {
  if (name.starts_with("inuse_")) name.remove_prefix(6);
  if (name.ends_with('s')) name.remove_suffix(1);
  return name;
}

std::string_view WithoutPlural(std::string_view name) {
  if (name.ends_with('s')) name.remove_suffix(1);
  return name;
}

// The same name, and a unit that can be converted.
bool SameType(const SampleType& a, const SampleType& b) {
  return WithoutPlural(a.name) == WithoutPlural(b.name) && UnitRatio(a.unit, b.unit).has_value();
}

bool AllMatch(const std::vector<Profile>& profiles) {
  const std::vector<SampleType>& first = profiles[0].sample_types;
  return std::all_of(profiles.begin() + 1, profiles.end(), [&](const Profile& p) {
    return std::equal(first.begin(), first.end(), p.sample_types.begin(), p.sample_types.end(),
                      SameType);
  });
}

std::string TypeList(const Profile& profile) {
  std::string text;
  for (const SampleType& type : profile.sample_types) {
    text += (text.empty() ? "" : ", ") + Printable(type.name) + "/" + Printable(type.unit);
  }
  return text.empty() ? "none" : text;
}

// The type of `profile` that stands for `type`; an equal name before a similar one.
size_t Counterpart(const SampleType& type, const Profile& profile) {
  const std::vector<SampleType>& all = profile.sample_types;
  for (const bool similar : {false, true}) {
    for (size_t i = 0; i < all.size(); ++i) {
      const bool named = similar ? Stem(all[i].name) == Stem(type.name) : SameType(all[i], type);
      if (named && UnitRatio(all[i].unit, type.unit).has_value()) return i;
    }
  }
  return all.size();
}

// Keeps the columns `columns` of the table, in that order.
void SelectTypes(const std::vector<size_t>& columns, Profile* profile) {
  const size_t before = profile->sample_types.size();
  const auto select = [&](auto* table) {
    if (table->empty()) return;
    std::decay_t<decltype(*table)> now;
    now.reserve(profile->rows.size() * columns.size());
    for (size_t row = 0; row < profile->rows.size(); ++row) {
      for (const size_t column : columns) now.push_back((*table)[row * before + column]);
    }
    *table = std::move(now);
  };
  select(&profile->values);
  select(&profile->estimates);
  std::vector<SampleType> types;
  size_t default_type = kNone;
  for (const size_t column : columns) {
    if (column == profile->default_type) default_type = types.size();
    types.push_back(profile->sample_types[column]);
  }
  if (profile->default_type < before && default_type == kNone) default_type = 0;
  profile->default_type = default_type;
  profile->sample_types = std::move(types);
}

bool HasCommon(const Profile& a, const Profile& b) {
  return std::any_of(a.sample_types.begin(), a.sample_types.end(), [&](const SampleType& type) {
    return Counterpart(type, b) < b.sample_types.size();
  });
}

Status KeepCommon(std::vector<Profile>* profiles) {
  Profile& first = profiles->front();
  std::vector<std::vector<size_t>> columns(profiles->size());
  for (size_t type = 0; type < first.sample_types.size(); ++type) {
    std::vector<size_t> found;
    for (const Profile& profile : *profiles) {
      const size_t at = Counterpart(first.sample_types[type], profile);
      if (at == profile.sample_types.size()) break;
      found.push_back(at);
    }
    // A type that the first profile has twice is taken once.
    if (found.size() != profiles->size() || found[0] != type) continue;
    for (size_t i = 0; i < found.size(); ++i) columns[i].push_back(found[i]);
  }
  if (columns[0].empty()) {
    size_t other = 1;  // one that shows it
    while (other + 1 < profiles->size() && HasCommon(first, (*profiles)[other])) ++other;
    return Fail(ErrorCode::kInvalidArgument,
                "the profiles cannot be merged, no sample type is common to them: " +
                    TypeList(first) + " and " + TypeList((*profiles)[other]));
  }
  const std::string had = TypeList(first);
  for (size_t i = 0; i < profiles->size(); ++i) SelectTypes(columns[i], &(*profiles)[i]);
  first.notes.push_back("the profiles have different sample types (" + had +
                        " in the first), only those that all have are merged: " + TypeList(first));
  return {};
}

// Of all profiles, the finest unit of each type.
void AlignUnits(std::vector<Profile>* profiles) {
  const size_t types = profiles->front().sample_types.size();
  std::vector<std::string> finest(types);
  for (size_t type = 0; type < types; ++type) {
    finest[type] = profiles->front().sample_types[type].unit;
    for (const Profile& p : *profiles) {
      const std::string& unit = p.sample_types[type].unit;
      if (UnitRatio(unit, finest[type]).value_or(1) < 1) finest[type] = unit;
    }
  }
  for (Profile& p : *profiles) {
    std::vector<double> ratios;
    for (size_t type = 0; type < types; ++type) {
      ratios.push_back(UnitRatio(p.sample_types[type].unit, finest[type]).value_or(1));
    }
    ScaleProfile(ratios, &p);
    for (size_t type = 0; type < types; ++type) {
      p.sample_types[type].unit = finest[type];
      p.sample_types[type].name = profiles->front().sample_types[type].name;
    }
  }
}

// Periods go by the type of the first profile and the finest unit; those of other types are not
// comparable and do not count.
void AlignPeriods(std::vector<Profile>* profiles) {
  SampleType type = profiles->front().period_type;
  for (const Profile& p : *profiles) {
    if (!SameType(p.period_type, type)) continue;
    if (*UnitRatio(p.period_type.unit, type.unit) < 1) type.unit = p.period_type.unit;
  }
  bool differ = false;
  for (Profile& p : *profiles) {
    if (SameType(p.period_type, type)) {
      const double ratio = *UnitRatio(p.period_type.unit, type.unit);
      if (ratio != 1) p.period = static_cast<int64_t>(static_cast<double>(p.period) * ratio);
    } else {
      p.period = 0;
      differ = true;
    }
    p.period_type = type;
  }
  if (differ) {
    profiles->front().notes.push_back(
        "the profiles have different period types; the period is that of the first");
  }
}

}  // namespace

Status AlignSampleTypes(std::vector<Profile>* profiles) {
  if (profiles->size() < 2) return {};
  if (!AllMatch(*profiles)) HG_TRY(KeepCommon(profiles));
  AlignUnits(profiles);
  AlignPeriods(profiles);
  return {};
}

}  // namespace heapgauge
