#include "core/analysis/functions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>
#include <utility>

#include "core/analysis/allocation_frames.h"
#include "core/base/regex.h"
#include "core/base/text.h"
#include "core/base/try_thread.h"
#include "core/model/walk_stacks.h"

namespace heapgauge {
namespace {

uint64_t Since(uint64_t then, uint64_t now) { return now > then ? now - then : 0; }

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
    matches.functions[i] = regex.Matches(function.name) ||
                           (granularity == Granularity::kFiles && regex.Matches(function.file));
  }
  if (granularity != Granularity::kModules) return matches;
  for (size_t i = 0; i < matches.modules.size(); ++i) {
    matches.modules[i] = regex.Matches(profile.modules[i].path);
  }
  return matches;
}

}  // namespace

void HeapFigures::Add(const HeapFigures& other) {
  live_bytes.Add(other.live_bytes);
  allocated_bytes.Add(other.allocated_bytes);
  live_objects += other.live_objects;
  allocated_objects += other.allocated_objects;
  samples += other.samples;
  live_samples += other.live_samples;
  aged_bytes += other.aged_bytes;
  birth_sum += other.birth_sum;
  oldest_birth = std::min(oldest_birth, other.oldest_birth);
}

uint64_t HeapFigures::MeanAge(uint64_t now_ns) const {
  if (!(aged_bytes > 0)) return 0;
  const double mean_birth = birth_sum / aged_bytes;
  const double age = static_cast<double>(now_ns) - mean_birth;
  return age > 0 ? static_cast<uint64_t>(age) : 0;
}

uint64_t HeapFigures::OldestAge(uint64_t now_ns) const { return Since(oldest_birth, now_ns); }

std::vector<HeapFigures> FiguresOfRows(const Profile& profile) {
  std::vector<HeapFigures> figures(profile.rows.size());
  const Measures m = MeasuresOf(profile);
  for (RowId row = 0; row < figures.size(); ++row) {
    HeapFigures& f = figures[row];
    if (m.main != kNone) f.live_bytes = profile.estimate(row, m.main);
    if (m.allocated != kNone) f.allocated_bytes = profile.estimate(row, m.allocated);
    if (m.objects != kNone) f.live_objects = profile.estimate(row, m.objects).value;
    if (m.allocated_objects != kNone) {
      f.allocated_objects = profile.estimate(row, m.allocated_objects).value;
    }
    if (m.has_samples) {
      f.samples = profile.rows[row].samples;
      f.live_samples = profile.rows[row].live_samples;
    } else {
      f.live_samples = f.live_bytes.value != 0 ? 1 : 0;
      f.samples = f.live_samples != 0 || f.allocated_bytes.value != 0 ? 1 : 0;
    }
  }
  if (profile.recording.is_peak) return figures;  // the snapshot does not keep births
  for (const Block& block : profile.blocks) {
    HeapFigures& f = figures[block.row];
    const double bytes = WeightOf(block.size, block.interval).bytes;
    f.aged_bytes += bytes;
    f.birth_sum += bytes * static_cast<double>(block.birth_ns);
    f.oldest_birth = std::min(f.oldest_birth, block.birth_ns);
  }
  return figures;
}

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

FramePlace FlatFrame(const Profile& profile, RowId row,
                     const std::vector<uint32_t>& allocation_frames) {
  FramePlace last;
  for (NodeId node = profile.rows[row].leaf; node != kNone; node = profile.nodes[node].parent) {
    const LocationId id = profile.nodes[node].location;
    const uint32_t count = profile.locations[id].frame_count;
    if (allocation_frames[id] < count) return {node, allocation_frames[id]};
    if (count > 0) last = {node, count - 1};
  }
  return last;  // the whole stack allocates: its outermost frame stands for it
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

// Rows without live bytes still have a place where they allocate.
double PlaceWeight(const HeapFigures& f) {
  return std::fabs(f.live_bytes.value) + 1e-6 * f.allocated_bytes.value;
}

// What of a profile is looked at, by location and by entity.
struct Marks {
  std::vector<uint8_t> locations;
  std::vector<uint8_t> entities;
};

// Of the entities that have flat figures, those whose heaviest frames have the same flat weight:
// there the cumulative weight decides which of them stands for the entity.
Marks FindTies(const Profile& profile, const FunctionReport& report,
               const std::vector<double>& frame_flat) {
  const Entities& entities = report.entities;
  std::vector<double> heaviest(entities.size(), -std::numeric_limits<double>::infinity());
  Marks ties{std::vector<uint8_t>(profile.locations.size()), std::vector<uint8_t>(entities.size())};
  const auto each = [&](const auto& look) {
    for (LocationId id = 0; id < profile.locations.size(); ++id) {
      const Location& location = profile.locations[id];
      for (uint32_t k = 0; k < location.frame_count; ++k) {
        look(id, entities.Of(id, k), frame_flat[location.first_frame + k]);
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
    const HeapFigures& f = report.rows[entity].flat;
    if (f.samples == 0 && f.live_samples == 0) ties.entities[entity] = 0;
  }
  each(
      [&](LocationId id, EntityId entity, double) { ties.locations[id] |= ties.entities[entity]; });
  return ties;
}

// Calls add(row, entity, frame) for what is marked on the stacks of the selected rows, once for
// each row and entity: at the innermost frame.
template <typename Add>
void VisitStacks(const Profile& profile, const Entities& entities,
                 const std::vector<bool>& selected, const Marks& marks, const Add& add) {
  // Most locations have one frame. What is needed of it is kept together, because each look at
  // another table waits for memory.
  struct Only {
    EntityId entity = kNone;  // kNone: nothing is marked here
    uint32_t frame = kNone;   // kNone: there are several
  };
  std::vector<Only> only(profile.locations.size());
  for (LocationId id = 0; id < only.size(); ++id) {
    const Location& location = profile.locations[id];
    if (marks.locations[id] == 0 || location.frame_count == 0) continue;
    only[id].entity = entities.Of(id, 0);
    if (location.frame_count == 1) only[id].frame = location.first_frame;
  }
  std::vector<RowId> counted_in(entities.size(), kNone);
  const auto visit = [&](size_t i, const std::vector<LocationId>& stack) {
    const auto row = static_cast<RowId>(i);
    const auto count = [&](EntityId entity, uint32_t frame) {
      if (counted_in[entity] == row) return;
      counted_in[entity] = row;
      add(row, entity, frame);
    };
    for (const LocationId id : stack) {
      if (only[id].entity == kNone) continue;
      if (only[id].frame != kNone) {
        count(only[id].entity, only[id].frame);
        continue;
      }
      const Location& location = profile.locations[id];
      for (uint32_t k = 0; k < location.frame_count; ++k) {
        const EntityId entity = entities.Of(id, k);
        if (marks.entities[entity] != 0) count(entity, location.first_frame + k);
      }
    }
  };
  const auto leaf_of = [&](size_t row) { return selected[row] ? profile.rows[row].leaf : kNone; };
  WalkStacks(profile.nodes, 0, profile.rows.size(), leaf_of, visit);
}

}  // namespace

Result<FunctionReport> AggregateFunctions(const Profile& profile, const FunctionOptions& options) {
  HG_ASSIGN(const std::vector<bool> selected,
            SelectRows(profile, options.filter, options.granularity));
  // Names of allocators are as much work as all that can be done without them.
  std::vector<uint32_t> allocation_frames;
  const auto count_allocation_frames = [&] { allocation_frames = CountAllocationFrames(profile); };
  constexpr size_t kWorthAThread = 2000;
  std::thread other;
  if (profile.functions.size() > kWorthAThread) other = TryThread(count_allocation_frames);
  const std::vector<HeapFigures> figures = FiguresOfRows(profile);
  FunctionReport report;
  report.measures = MeasuresOf(profile);
  report.entities = Entities(profile, options.granularity);
  other.joinable() ? other.join() : count_allocation_frames();
  const Entities& entities = report.entities;
  report.rows.resize(entities.size() + 1);  // the last one is for stacks that cannot be read
  for (EntityId id = 0; id < entities.size(); ++id) {
    report.rows[id].entity = id;
    report.rows[id].function = entities[id].function;
  }
  const size_t unknown = entities.size();

  std::vector<double> frame_flat(profile.frames.size());
  std::vector<double> frame_cum(profile.frames.size());
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    PrefetchAhead(profile, row);
    const HeapFigures& f = figures[row];
    report.total.Add(f);
    if (!selected[row]) continue;
    report.selected.Add(f);
    const FramePlace flat = FlatFrame(profile, row, allocation_frames);
    if (flat.node == kNone) {
      report.rows[unknown].flat.Add(f);
      report.rows[unknown].cum.Add(f);
      continue;
    }
    const LocationId at = profile.nodes[flat.node].location;
    report.rows[entities.Of(at, flat.k)].flat.Add(f);
    frame_flat[profile.locations[at].first_frame + flat.k] += PlaceWeight(f);
  }
  if (options.flat_only) {
    VisitStacks(profile, entities, selected, FindTies(profile, report, frame_flat),
                [&](RowId row, EntityId, uint32_t frame) {
                  frame_cum[frame] += PlaceWeight(figures[row]);
                });
  } else {
    const Marks all{std::vector<uint8_t>(profile.locations.size(), 1),
                    std::vector<uint8_t>(entities.size(), 1)};
    VisitStacks(profile, entities, selected, all, [&](RowId row, EntityId entity, uint32_t frame) {
      report.rows[entity].cum.Add(figures[row]);
      frame_cum[frame] += PlaceWeight(figures[row]);
    });
  }
  std::vector<std::pair<double, double>> best(report.rows.size(), {-1, -1});
  for (LocationId id = 0; id < profile.locations.size(); ++id) {
    const Location& location = profile.locations[id];
    for (uint32_t k = 0; k < location.frame_count; ++k) {
      const uint32_t frame = location.first_frame + k;
      const EntityId entity = entities.Of(id, k);
      const std::pair<double, double> score{frame_flat[frame], frame_cum[frame]};
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
    return a.entity < b.entity;
  };
  std::sort(report.rows.begin(), report.rows.end(), before);
  return report;
}

}  // namespace heapgauge
