#include "core/fold/compare.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "core/base/text.h"
#include "core/fold/groundwork.h"
#include "core/fold/match_across.h"

namespace heapgauge {
namespace {

// The mean bytes between samples; 0 for profiles that saw everything.
double SamplingInterval(const Profile& profile) {
  const RecordingFacts& r = profile.recording;
  if (r.interval_in_force > 1) return static_cast<double>(r.interval_in_force);
  if (profile.period > 1 && profile.period_type.unit == "bytes" && !profile.estimates.empty()) {
    return static_cast<double>(profile.period);
  }
  return 0;
}

bool SameProcess(const Profile& a, const Profile& b) {
  return a.recording.pid != 0 && a.recording.pid == b.recording.pid &&
         a.recording.start_unix_ns == b.recording.start_unix_ns;
}

// Blocks are remembered with the time of their birth, so that memory that was freed and given out
// again is not taken for the same.
struct BlockHash {
  size_t operator()(const std::pair<uint64_t, uint64_t>& key) const {
    return static_cast<size_t>((key.first ^ key.second * 0x9e3779b97f4a7c15ull) *
                               0xd6e8feb86659fd93ull);
  }
};
using BlockSet = std::unordered_set<std::pair<uint64_t, uint64_t>, BlockHash>;

BlockSet BlocksOf(const Profile& profile) {
  BlockSet blocks;
  blocks.reserve(profile.blocks.size());
  for (const SampledBlock& block : profile.blocks) blocks.emplace(block.address, block.birth_ns);
  return blocks;
}

// The profile with live figures of only those blocks that are not in `others`.
Profile Without(const Profile& profile, const BlockSet& others) {
  Profile rest = profile;
  rest.estimates.assign(rest.values.size(), {});
  const size_t types = rest.sample_types.size();
  for (const SampledBlock& block : rest.blocks) {
    if (others.count({block.address, block.birth_ns}) != 0) continue;
    const SampleWeight weight = WeightOf(block.size, block.interval);
    rest.estimates[block.row * types + kInuseSpace].Add(BytesEstimate(block.size, weight));
    rest.estimates[block.row * types + kInuseObjects].Add(ObjectsEstimate(weight));
  }
  for (Row& row : rest.rows) row.live_samples = 0;
  for (const SampledBlock& block : rest.blocks) ++rest.rows[block.row].live_samples;
  return rest;
}

// What was added to a counter that only grows: the later sum without the earlier one.
Estimate Added(const Estimate& later, const Estimate& earlier) {
  Estimate added;
  added.value = std::max(0.0, later.value - earlier.value);
  added.variance = std::max(0.0, later.variance - earlier.variance);
  added.floor = std::clamp(later.floor - earlier.floor, 0.0, added.value);
  added.block_variance = std::max(0.0, later.block_variance - earlier.block_variance);
  added.step = added.value > 0 ? later.step : 0;
  return added;
}

// The range of a difference from the ranges of its parts, which are independent (the squares of
// the distances to their ends add up). `unseen`: what a sample stands for of which there is none; 0
// where nothing can be missed.
Interval RangeOfDifference(const Estimate& plus, const Estimate& minus, double plus_unseen,
                           double minus_unseen) {
  const auto range = [](const Estimate& e, double unseen) {
    if (e.value > 0 || unseen <= 0) return Interval95(e);
    return Interval95(NothingSampled(unseen));
  };
  const Interval p = range(plus, plus_unseen);
  const Interval m = range(minus, minus_unseen);
  const double change = plus.value - minus.value;
  return {change - std::hypot(plus.value - p.low, m.high - minus.value),
          change + std::hypot(p.high - plus.value, minus.value - m.low)};
}

class Comparer {
 public:
  Comparer(const std::vector<const Profile*>& profiles, const FunctionOptions& options)
      : profiles_(profiles),
        first_(*profiles.front()),
        last_(*profiles.back()),
        options_(options) {}

  Result<Comparison> Run() {
    HG_TRY(CheckTypes());
    made_.by_allocated = options_.sort == SortKey::kAllocated && MeasuresOf(first_).has_allocated();
    made_.by_count = options_.sort == SortKey::kCount &&
                     std::all_of(profiles_.begin(), profiles_.end(), [](const Profile* profile) {
                       return MeasuresOf(*profile).has_objects();
                     });
    options_.sort = made_.by_allocated ? SortKey::kAllocated : SortKey::kLive;
    options_.flat_only = !options_.cumulative;
    made_.same_process = true;
    for (const Profile* profile : profiles_) {
      made_.same_process = made_.same_process && SameProcess(first_, *profile);
    }
    first_interval_ = SamplingInterval(first_);
    last_interval_ = SamplingInterval(last_);
    if (MeasuresOf(first_).unit == "byte-seconds" && !made_.by_count) rounding_ = 1e-9;
    made_.has_ranges = first_interval_ > 1 || last_interval_ > 1;
    HG_TRY(Collect());
    made_.has_objects = CountsObjects(made_.before.measures) && CountsObjects(made_.after.measures);
    HG_TRY(Follow());
    for (ChangeRow& row : made_.rows) {
      FillIn(row.in_before == kNone ? nullptr : &made_.before.rows[row.in_before],
             row.in_after == kNone ? nullptr : &made_.after.rows[row.in_after], &row.figures);
      Steps(&row);
    }
    Total();
    std::erase_if(made_.rows, [](const ChangeRow& row) {
      return !row.figures.has_before() && !row.figures.has_after();
    });
    std::stable_sort(
        made_.rows.begin(), made_.rows.end(), [](const ChangeRow& a, const ChangeRow& b) {
          const double of_a = std::fabs(a.figures.change);
          const double of_b = std::fabs(b.figures.change);
          if (of_a != of_b) return of_a > of_b;
          return std::fabs(a.figures.objects_change()) > std::fabs(b.figures.objects_change());
        });
    return std::move(made_);
  }

 private:
  Status CheckTypes() const {
    for (const Profile* profile : profiles_) HG_TRY(CheckComparable(first_, *profile));
    return {};
  }

  const Estimate& Of(const HeapFigures& f) const {
    return made_.by_allocated ? f.allocated_bytes : f.live_bytes;
  }
  const HeapFigures& Of(const FunctionRow& row) const {
    return options_.cumulative ? row.cum : row.flat;
  }
  bool CountsObjects(const Measures& m) const {
    return made_.by_allocated ? m.allocated_objects != kNone : m.has_objects();
  }
  // A count that one side lacks is no 0: it would make a change of what is the same.
  double ObjectsOf(const HeapFigures& f) const {
    if (!made_.has_objects) return 0;
    return made_.by_allocated ? f.allocated_objects : f.live_objects;
  }
  Result<FunctionReport> Aggregate(const Profile& profile) const {
    if (!made_.by_count) return AggregateFunctions(profile, options_);
    return AggregateFunctions(Groundwork(profile, CountsOf(profile)), options_);
  }
  // Every profile's figures, then the rows that are the same in all of them.
  Status Collect() {
    std::vector<Entities> entities;
    std::vector<std::vector<std::pair<EntityId, double>>> figures;
    for (size_t i = 0; i < profiles_.size(); ++i) {
      HG_ASSIGN(FunctionReport report, Aggregate(*profiles_[i]));
      made_.series.push_back(Of(report.selected).value);
      figures.emplace_back();
      for (const FunctionRow& row : report.rows) {
        figures.back().push_back({row.entity, Of(Of(row)).value});
      }
      entities.push_back(report.entities);
      if (i == 0) made_.before = report;
      if (i + 1 == profiles_.size()) made_.after = std::move(report);
    }
    std::vector<MatchSide> sides;
    for (size_t i = 0; i < profiles_.size(); ++i) sides.push_back({profiles_[i], &entities[i]});
    matched_ = MatchAcross(sides);
    place_.assign(matched_.things + 1, kNone);
    for (size_t i = 0; i < profiles_.size(); ++i) {
      for (uint32_t at = 0; at < figures[i].size(); ++at) {
        ChangeRow& row = RowOf(i, figures[i][at].first);
        row.series[i] = figures[i][at].second;
        if (i == 0) row.in_before = at;
        if (i + 1 == profiles_.size()) row.in_after = at;
      }
    }
    return {};
  }

  // The place in made_.rows of an entity of the profile of that number; stacks that cannot be read
  // have one, too.
  uint32_t& PlaceOf(size_t profile, EntityId entity) {
    return place_[entity == kNone ? matched_.things : matched_.thing_of[profile][entity]];
  }

  ChangeRow& RowOf(size_t profile, EntityId entity) {
    uint32_t& place = PlaceOf(profile, entity);
    if (place == kNone) {
      place = static_cast<uint32_t>(made_.rows.size());
      made_.rows.emplace_back().series.resize(profiles_.size());
    }
    return made_.rows[place];
  }

  // Splits live figures into what came, what went and what stayed, where blocks tell.
  Status Follow() {
    came_.resize(made_.rows.size());
    went_.resize(made_.rows.size());
    const auto has_blocks = [](const Profile& p) {
      return !p.blocks.empty() && !p.recording.is_peak && p.sample_types.size() == kHeapTypes &&
             MeasuresOf(p).main == kInuseSpace;
    };
    made_.by_block =
        made_.same_process && !made_.by_allocated && has_blocks(first_) && has_blocks(last_);
    if (!made_.by_block) return {};
    const size_t last = profiles_.size() - 1;
    const auto split = [&](size_t which, size_t other, std::vector<Estimate>* parts,
                           Estimate* total) -> Status {
      // Its entities have the numbers that they have in the whole profile.
      const Profile rest = Without(*profiles_[which], BlocksOf(*profiles_[other]));
      HG_ASSIGN(const FunctionReport report, Aggregate(rest));
      *total = report.selected.live_bytes;
      for (const FunctionRow& row : report.rows) {
        const uint32_t place = PlaceOf(which, row.entity);
        if (place != kNone) (*parts)[place] = Of(row).live_bytes;
      }
      return {};
    };
    HG_TRY(split(last, 0, &came_, &total_came_));
    return split(0, last, &went_, &total_went_);
  }

  void FillIn(const FunctionRow* before, const FunctionRow* after, Change* change) {
    const size_t at = next_++;
    if (before != nullptr) {
      change->before = Of(Of(*before));
      change->objects_before = ObjectsOf(Of(*before));
    }
    if (after != nullptr) {
      change->after = Of(Of(*after));
      change->objects_after = ObjectsOf(Of(*after));
    }
    change->came = came_[at];
    change->went = went_[at];
    Judge(change);
  }

  // What a sample that was not taken stands for at this interval. In blocks: as many as samples of
  // the side that has some, or, where that was not sampled, blocks of a byte.
  double Unseen(const Change& c, double interval) const {
    if (!made_.by_count) return interval;
    double share = 0;
    bool known = false;
    const auto look = [&](const Estimate& e, double of) {
      if (e.value == 0 || of <= 1) return;
      share = std::max(share, e.step / of);
      known = true;
    };
    look(c.before, first_interval_);
    look(c.after, last_interval_);
    return known ? share * interval : interval;
  }

  void Judge(Change* c) const {
    const double unseen_before = Unseen(*c, first_interval_);
    const double unseen_after = Unseen(*c, last_interval_);
    c->change = c->after.value - c->before.value;
    if (made_.by_block) {
      c->range = RangeOfDifference(c->came, c->went, unseen_after, unseen_before);
    } else if (made_.by_allocated && made_.has_ranges && made_.same_process &&
               first_.recording.reset_ns == last_.recording.reset_ns) {
      // The later counter holds all samples of the earlier one, whichever comes first here. Exact
      // figures have nothing to guess, and may be those of ranges that do not hold each other.
      if (last_.recording.duration_ns >= first_.recording.duration_ns) {
        c->came = Added(c->after, c->before);
        c->range = RangeOfDifference(c->came, {}, unseen_after, 0);
      } else {
        c->went = Added(c->before, c->after);
        c->range = RangeOfDifference({}, c->went, 0, unseen_before);
      }
    } else {
      c->range = RangeOfDifference(c->after, c->before, unseen_after, unseen_before);
    }
    // Rounding in the file is no change.
    const bool any = std::fabs(c->change) >= rounding_;
    if (!any) {
      c->change = 0;
    }
    const bool any_objects = std::fabs(c->objects_change()) >= 0.5;
    c->beyond_chance =
        any ? c->range.low > 0 || c->range.high < 0 : any_objects && !made_.has_ranges;
    c->kind = !any && !any_objects                          ? ChangeKind::kSame
              : !c->has_before()                            ? ChangeKind::kNew
              : !c->has_after()                             ? ChangeKind::kGone
              : (any ? c->change : c->objects_change()) > 0 ? ChangeKind::kGrown
                                                            : ChangeKind::kShrunk;
  }

  void Steps(ChangeRow* row) const {
    for (size_t i = 1; i < row->series.size(); ++i) {
      const double step = row->series[i] - row->series[i - 1];
      if (step >= rounding_) ++row->rises;
      if (step <= -rounding_) ++row->falls;
    }
  }

  void Total() {
    const HeapFigures& before = made_.before.selected;
    const HeapFigures& after = made_.after.selected;
    made_.total.before = Of(before);
    made_.total.after = Of(after);
    made_.total.objects_before = ObjectsOf(before);
    made_.total.objects_after = ObjectsOf(after);
    made_.total.came = total_came_;
    made_.total.went = total_went_;
    Judge(&made_.total);
  }

  const std::vector<const Profile*>& profiles_;
  const Profile& first_;
  const Profile& last_;
  FunctionOptions options_;
  double first_interval_ = 0;
  double last_interval_ = 0;
  double rounding_ = 0.5;  // less is no change; lifetimes are not rounded
  Comparison made_;
  MatchedEntities matched_;
  std::vector<uint32_t> place_;  // by thing, in made_.rows; kNone: none. Then unreadable stacks
  std::vector<Estimate> came_;   // by row
  std::vector<Estimate> went_;
  Estimate total_came_;
  Estimate total_went_;
  size_t next_ = 0;
};

}  // namespace

const char* ChangeKindName(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kNew:
      return "new";
    case ChangeKind::kGone:
      return "gone";
    case ChangeKind::kGrown:
      return "grown";
    case ChangeKind::kShrunk:
      return "shrunk";
    case ChangeKind::kSame:
      break;
  }
  return "same";
}

Status CheckComparable(const Profile& first, const Profile& other) {
  const Measures one = MeasuresOf(first);
  const Measures two = MeasuresOf(other);
  // Files that have the peak as a figure beside the end, and traces at their peak, tell the same
  // thing: what was live at one moment.
  const auto figure = [](const Measures& m) { return m.type == "peak_space" ? "live" : m.name; };
  if (two.unit == one.unit && figure(two) == figure(one)) return {};
  return Fail(ErrorCode::kInvalidArgument, "cannot compare " + Printable(one.type) + " (" +
                                               Printable(one.unit) + ") with " +
                                               Printable(two.type) + " (" + Printable(two.unit) +
                                               "); --type chooses another sample type");
}

Result<Comparison> Compare(const std::vector<const Profile*>& profiles,
                           const FunctionOptions& options) {
  if (profiles.size() < 2) {
    return Fail(ErrorCode::kInvalidArgument, "at least two profiles are needed to compare");
  }
  return Comparer(profiles, options).Run();
}

}  // namespace heapgauge
