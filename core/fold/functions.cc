#include "core/fold/functions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>
#include <utility>

#include "core/base/function_name.h"
#include "core/base/regex.h"
#include "core/base/text.h"
#include "core/base/threads.h"
#include "core/fold/function_sums.h"
#include "core/fold/groundwork.h"
#include "core/fold/measures.h"

namespace heapgauge {
namespace {

// Which functions and modules a pattern means.
struct Matches {
  std::vector<bool> functions;
  std::vector<bool> modules;
};

// An empty pattern matches nothing.
Result<Matches> Match(const Profile& profile, const std::string& pattern, Granularity granularity) {
  Matches matches;
  matches.functions.resize(profile.functions.size());
  matches.modules.resize(profile.modules.size());
  if (pattern.empty()) return matches;
  HG_ASSIGN(const Regex regex, Regex::CompileTyped(pattern));
  for (size_t i = 0; i < matches.functions.size(); ++i) {
    const Function& function = profile.functions[i];
    matches.functions[i] = MatchesFunction(regex, function.name) ||
                           (granularity == Granularity::kFiles && regex.Matches(function.file));
  }
  if (granularity != Granularity::kModules) return matches;
  for (size_t i = 0; i < matches.modules.size(); ++i) {
    matches.modules[i] = regex.Matches(profile.modules[i].path);
  }
  return matches;
}

}  // namespace

Status CheckPattern(const std::string& pattern) {
  HG_TRY(Regex::CompileTyped(pattern));
  return {};
}

Result<std::vector<bool>> SelectRows(const Profile& profile, const RowFilter& filter,
                                     Granularity granularity) {
  std::vector<bool> selected(profile.rows.size(), true);
  if (filter.focus.empty() && filter.ignore.empty()) return selected;
  HG_ASSIGN(const Matches focus, Match(profile, filter.focus, granularity));
  HG_ASSIGN(const Matches ignore, Match(profile, filter.ignore, granularity));
  // A node knows what is on its stack from its own location and its caller's node.
  enum : uint8_t { kFocused = 1, kIgnored = 2 };
  std::vector<uint8_t> location_has(profile.locations.size());
  for (LocationId id = 0; id < profile.locations.size(); ++id) {
    const Location& location = profile.locations[id];
    bool focused = location.module != kNone && focus.modules[location.module];
    bool ignored = location.module != kNone && ignore.modules[location.module];
    for (uint32_t i = 0; i < location.frame_count; ++i) {
      const FunctionId function = profile.frames[location.first_frame + i].function;
      focused = focused || focus.functions[function];
      ignored = ignored || ignore.functions[function];
    }
    location_has[id] = static_cast<uint8_t>((focused ? kFocused : 0) | (ignored ? kIgnored : 0));
  }
  std::vector<uint8_t> stack_has(profile.nodes.size());
  for (NodeId id = 0; id < profile.nodes.size(); ++id) {
    const Node& node = profile.nodes[id];
    stack_has[id] = static_cast<uint8_t>(location_has[node.location] |
                                         (node.parent == kNone ? 0 : stack_has[node.parent]));
  }
  for (RowId row = 0; row < selected.size(); ++row) {
    const NodeId leaf = profile.rows[row].leaf;
    const uint8_t has = leaf == kNone ? 0 : stack_has[leaf];
    selected[row] = (filter.focus.empty() || (has & kFocused) != 0) && (has & kIgnored) == 0;
  }
  return selected;
}

double SortValue(const HeapFigures& figures, SortKey key, uint64_t now_ns) {
  switch (key) {
    case SortKey::kLive:
      break;
    case SortKey::kAllocated:
      return figures.allocated_bytes.value;
    case SortKey::kCount:
      return figures.live_objects;
    case SortKey::kAge:
      return static_cast<double>(figures.MeanAge(now_ns));
  }
  return figures.live_bytes.value;
}

namespace {

// Of the entities that have flat figures, those whose heaviest frames have the same flat weight:
// there the cumulative weight decides which of them stands for the entity.
FrameMarks FindTies(const Profile& profile, const Entities& entities, const FunctionSums& sums) {
  std::vector<double> heaviest(entities.size(), -std::numeric_limits<double>::infinity());
  FrameMarks ties{std::vector<uint8_t>(profile.locations.size()),
                  std::vector<uint8_t>(entities.size())};
  const auto each = [&](const auto& look) {
    for (LocationId id = 0; id < profile.locations.size(); ++id) {
      const Location& location = profile.locations[id];
      for (uint32_t k = 0; k < location.frame_count; ++k) {
        look(id, entities.Of(id, k), sums.frame_flat[location.first_frame + k]);
      }
    }
  };
  each([&](LocationId, EntityId entity, double flat) {
    if (flat == heaviest[entity]) ties.entities[entity] = 1;
    if (flat <= heaviest[entity]) return;
    heaviest[entity] = flat;
    ties.entities[entity] = 0;
  });
  for (EntityId entity = 0; entity < entities.size(); ++entity) {
    const HeapFigures& f = sums.flat[entity];
    if (f.samples == 0 && f.live_samples == 0) ties.entities[entity] = 0;
  }
  each(
      [&](LocationId id, EntityId entity, double) { ties.locations[id] |= ties.entities[entity]; });
  return ties;
}

}  // namespace

Result<FunctionReport> AggregateFunctions(const Profile& profile, const FunctionOptions& options) {
  return AggregateFunctions(Groundwork(profile), options);
}

Result<FunctionReport> AggregateFunctions(const Groundwork& groundwork,
                                          const FunctionOptions& options) {
  const Profile& profile = groundwork.profile();
  HG_ASSIGN(const std::vector<bool> selected,
            SelectRows(profile, options.filter, options.granularity));
  // Names of allocators are as much work as all that can be done without them.
  constexpr size_t kWorthAThread = 2000;
  std::thread other;
  if (profile.functions.size() > kWorthAThread) {
    other = TryThread([&] { groundwork.allocation_frames(); });
  }
  FunctionReport report;
  report.measures = groundwork.measures();
  report.entities = *groundwork.entities(options.granularity);
  if (other.joinable()) other.join();
  const Entities& entities = report.entities;
  FunctionSums sums = SumFunctions(groundwork, entities, selected, !options.flat_only);
  if (options.flat_only) {
    sums.frame_cum = WeighFrames(groundwork, entities, selected, FindTies(profile, entities, sums));
  }
  report.total = sums.total;
  report.selected = sums.selected;
  report.rows.resize(entities.size() + 1);  // the last one is for stacks that cannot be read
  for (EntityId id = 0; id < entities.size(); ++id) {
    FunctionRow& row = report.rows[id];
    row.entity = id;
    row.function = entities[id].function;
    row.flat = sums.flat[id];
    if (!options.flat_only) row.cum = sums.cum[id];
  }
  report.rows.back().flat = report.rows.back().cum = sums.unknown;
  std::vector<std::pair<double, double>> best(report.rows.size(), {-1, -1});
  for (LocationId id = 0; id < profile.locations.size(); ++id) {
    const Location& location = profile.locations[id];
    for (uint32_t k = 0; k < location.frame_count; ++k) {
      const uint32_t frame = location.first_frame + k;
      const EntityId entity = entities.Of(id, k);
      const std::pair<double, double> score{sums.frame_flat[frame], sums.frame_cum[frame]};
      if (score <= best[entity]) continue;
      best[entity] = score;
      report.rows[entity].frame = frame;
    }
  }
  report.rows.erase(std::remove_if(report.rows.begin(), report.rows.end(),
                                   [&](const FunctionRow& row) {
                                     const HeapFigures& f = options.cumulative ? row.cum : row.flat;
                                     return f.samples == 0 && f.live_samples == 0;
                                   }),
                    report.rows.end());
  const uint64_t now = profile.recording.duration_ns;
  const auto before = [&](const FunctionRow& a, const FunctionRow& b) {
    const HeapFigures& fa = options.cumulative ? a.cum : a.flat;
    const HeapFigures& fb = options.cumulative ? b.cum : b.flat;
    // What a difference lost is as much worth a look as what it gained.
    const double va = std::fabs(SortValue(fa, options.sort, now));
    const double vb = std::fabs(SortValue(fb, options.sort, now));
    if (va != vb) return va > vb;
    if (fa.allocated_bytes.value != fb.allocated_bytes.value) {
      return fa.allocated_bytes.value > fb.allocated_bytes.value;
    }
    return IsNamedBefore(profile, entities, a.entity, b.entity);
  };
  std::sort(report.rows.begin(), report.rows.end(), before);
  return report;
}

const char* SortName(SortKey key) {
  static constexpr const char* kNames[] = {"live", "allocated", "count", "age"};
  return kNames[static_cast<size_t>(key)];
}

Result<SortKey> ChooseSort(std::optional<SortKey> asked, const Profile& profile) {
  const Measures m = MeasuresOf(profile);
  if (!asked) {
    const size_t type = profile.sample_types.empty() ? kNone : profile.DefaultType();
    if (m.has_allocated() && type == m.allocated) return SortKey::kAllocated;
    if (m.has_objects() && type == m.objects) return SortKey::kCount;
    return SortKey::kLive;
  }
  const SortKey key = *asked;
  const bool known = key == SortKey::kLive || (key == SortKey::kAllocated && m.has_allocated()) ||
                     (key == SortKey::kCount && m.has_objects()) ||
                     (key == SortKey::kAge && !profile.blocks.empty());
  if (key == SortKey::kAge && profile.recording.exact) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "a trace is not sorted by age: heapgauge lifetimes tells how long blocks lived, and "
        "--min-lifetime chooses those that lived long");
  }
  // What a program has not allocated yet is nothing to complain about.
  if (known || (key == SortKey::kAge && profile.recording.pid != 0)) return key;
  std::string types;
  for (const SampleType& type : profile.sample_types) {
    types += (types.empty() ? "" : ", ") + Printable(type.name);
  }
  return Fail(ErrorCode::kInvalidArgument, std::string("this profile cannot be sorted by ") +
                                               SortName(key) + ": it has " +
                                               (types.empty() ? "no sample types" : types));
}

size_t TypeOf(const Profile& profile, SortKey sort) {
  const Measures m = MeasuresOf(profile);
  if (sort == SortKey::kAllocated && m.has_allocated()) return m.allocated;
  if (sort == SortKey::kCount && m.has_objects()) return m.objects;
  return m.main;
}

}  // namespace heapgauge
