#include "core/analysis/functions.h"

#include <re2/re2.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "core/analysis/allocation_frames.h"
#include "core/base/text.h"

namespace heapgauge {
namespace {

uint64_t Since(uint64_t then, uint64_t now) { return now > then ? now - then : 0; }

// Functions with the same name form one group.
std::vector<uint32_t> GroupByName(const Profile& profile, std::vector<FunctionId>* leaders) {
  std::unordered_map<std::string_view, uint32_t> groups;
  std::vector<uint32_t> group_of(profile.functions.size());
  for (FunctionId id = 0; id < profile.functions.size(); ++id) {
    const auto [it, is_new] =
        groups.try_emplace(profile.functions[id].name, static_cast<uint32_t>(leaders->size()));
    if (is_new) leaders->push_back(id);
    group_of[id] = it->second;
  }
  return group_of;
}

// Whether each function's name matches; empty pattern: none does.
Result<std::vector<bool>> MatchFunctions(const Profile& profile, const std::string& pattern) {
  std::vector<bool> matches(profile.functions.size());
  if (pattern.empty()) return matches;
  RE2::Options options(RE2::Quiet);
  options.set_max_mem(16 << 20);
  const RE2 re(pattern, options);
  if (!re.ok()) {
    return Fail(ErrorCode::kInvalidArgument,
                "'" + Printable(pattern) + "' is not a regular expression: " + re.error());
  }
  for (size_t i = 0; i < matches.size(); ++i) {
    matches[i] = RE2::PartialMatch(profile.functions[i].name, re);
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
  for (RowId row = 0; row < figures.size(); ++row) {
    HeapFigures& f = figures[row];
    f.live_bytes = profile.value(row, kInuseSpace);
    f.allocated_bytes = profile.value(row, kAllocSpace);
    f.live_objects = profile.value(row, kInuseObjects).value;
    f.allocated_objects = profile.value(row, kAllocObjects).value;
    f.samples = profile.rows[row].samples;
    f.live_samples = profile.rows[row].live_samples;
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

Result<std::vector<bool>> SelectRows(const Profile& profile, const RowFilter& filter) {
  std::vector<bool> selected(profile.rows.size(), true);
  if (filter.focus.empty() && filter.ignore.empty()) return selected;
  HG_ASSIGN(const std::vector<bool> focus, MatchFunctions(profile, filter.focus));
  HG_ASSIGN(const std::vector<bool> ignore, MatchFunctions(profile, filter.ignore));
  std::vector<LocationId> stack;
  for (RowId row = 0; row < selected.size(); ++row) {
    bool focused = filter.focus.empty();
    bool ignored = false;
    profile.StackOf(row, &stack);
    for (const LocationId id : stack) {
      const Location& location = profile.locations[id];
      for (uint32_t i = 0; i < location.frame_count; ++i) {
        const FunctionId function = profile.frames[location.first_frame + i].function;
        focused = focused || focus[function];
        ignored = ignored || ignore[function];
      }
    }
    selected[row] = focused && !ignored;
  }
  return selected;
}

uint32_t FlatFrame(const Profile& profile, RowId row,
                   const std::vector<uint32_t>& allocation_frames) {
  uint32_t last = kNone;
  for (NodeId node = profile.rows[row].leaf; node != kNone; node = profile.nodes[node].parent) {
    const LocationId id = profile.nodes[node].location;
    const Location& location = profile.locations[id];
    const uint32_t skipped = allocation_frames[id];
    if (skipped < location.frame_count) return location.first_frame + skipped;
    if (location.frame_count > 0) last = location.first_frame + location.frame_count - 1;
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

Result<FunctionReport> AggregateFunctions(const Profile& profile, const FunctionOptions& options) {
  HG_ASSIGN(const std::vector<bool> selected, SelectRows(profile, options.filter));
  const std::vector<uint32_t> allocation_frames = CountAllocationFrames(profile);
  const std::vector<HeapFigures> figures = FiguresOfRows(profile);
  std::vector<FunctionId> leaders;
  const std::vector<uint32_t> group_of = GroupByName(profile, &leaders);

  FunctionReport report;
  report.rows.resize(leaders.size() + 1);  // the last one is for stacks that cannot be read
  for (size_t i = 0; i < leaders.size(); ++i) report.rows[i].function = leaders[i];
  const uint32_t unknown = static_cast<uint32_t>(leaders.size());

  std::vector<RowId> counted_in(report.rows.size(), kNone);
  std::vector<double> frame_flat(profile.frames.size());
  std::vector<double> frame_cum(profile.frames.size());
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    const HeapFigures& f = figures[row];
    report.total.Add(f);
    if (!selected[row]) continue;
    report.selected.Add(f);
    // Rows without live bytes still have a place where they allocate.
    const double weight = f.live_bytes.value + 1e-6 * f.allocated_bytes.value;
    const uint32_t flat = FlatFrame(profile, row, allocation_frames);
    if (flat == kNone) {
      report.rows[unknown].flat.Add(f);
      report.rows[unknown].cum.Add(f);
      continue;
    }
    report.rows[group_of[profile.frames[flat].function]].flat.Add(f);
    frame_flat[flat] += weight;
    for (NodeId node = profile.rows[row].leaf; node != kNone; node = profile.nodes[node].parent) {
      const Location& location = profile.locations[profile.nodes[node].location];
      for (uint32_t i = 0; i < location.frame_count; ++i) {
        const uint32_t frame = location.first_frame + i;
        const uint32_t group = group_of[profile.frames[frame].function];
        if (counted_in[group] == row) continue;
        counted_in[group] = row;
        report.rows[group].cum.Add(f);
        frame_cum[frame] += weight;
      }
    }
  }
  std::vector<std::pair<double, double>> best(report.rows.size(), {-1, -1});
  for (uint32_t frame = 0; frame < profile.frames.size(); ++frame) {
    const uint32_t group = group_of[profile.frames[frame].function];
    const std::pair<double, double> score{frame_flat[frame], frame_cum[frame]};
    if (score <= best[group]) continue;
    best[group] = score;
    report.rows[group].frame = frame;
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
    const double va = SortValue(fa, options.sort, now);
    const double vb = SortValue(fb, options.sort, now);
    if (va != vb) return va > vb;
    if (fa.allocated_bytes.value != fb.allocated_bytes.value) {
      return fa.allocated_bytes.value > fb.allocated_bytes.value;
    }
    return a.function < b.function;
  };
  std::sort(report.rows.begin(), report.rows.end(), before);
  return report;
}

}  // namespace heapgauge
