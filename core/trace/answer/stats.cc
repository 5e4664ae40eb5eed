#include "core/trace/answer/stats.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/trace/answer/block_groups.h"
#include "core/trace/answer/fold_segments.h"
#include "core/trace/answer/selected_blocks.h"
#include "core/trace/answer/trace_moment.h"
#include "core/trace/answer/trace_stats.h"
#include "wire/gauge_format.h"

namespace heapgauge::trace {

// What one thread counts for `stats`: each block of a trace once, when all is known about it.
//
// Counts are filled by one thread and added up afterwards.

// Which of equal stretches a time is in. Times that are asked about mostly lie near each other, so
// the division is seldom made.
class TimeBins {
 public:
  TimeBins() = default;
  TimeBins(uint64_t width_ns, size_t count) : width_ns_(width_ns), last_(count - 1) {}

  // Times behind the last one are in the last one.
  size_t At(uint64_t time_ns) {
    if (time_ns - begin_ns_ >= width_ns_) {
      bin_ = time_ns / width_ns_;
      begin_ns_ = bin_ * width_ns_;
    }
    return bin_ < last_ ? static_cast<size_t>(bin_) : last_;
  }

 private:
  uint64_t width_ns_ = 1;
  size_t last_ = 0;
  uint64_t begin_ns_ = 0;
  uint64_t bin_ = 0;
};

class StatsCounts {
 public:
  // All must outlive this.
  StatsCounts(const TraceFile& trace, const BlockGroups& groups, const StatsRequest& request);

  // REQUIRES: the block is as at its death, or live at the end of the trace.
  void Add(const Block& block);
  // Of a block that comes soon.
  void Prefetch(const Block& block) const {
    __builtin_prefetch(&sums_.groups[groups_->Of(block)], 1);
  }
  void Add(const StatsCounts& other);
  // Everything but peak, chains and pages.
  TraceStats Take();

 private:
  static constexpr uint64_t kSmallSizes = 1 << 16;   // are counted in an array
  static constexpr size_t kMaxLargeSizes = 1 << 20;  // more are not counted one by one

  void CountSize(uint64_t size, uint64_t blocks);
  void CountLarge(uint64_t size, uint64_t blocks);
  void SumUp();
  ThreadStats* ThreadAt(uint32_t index);

  const BlockGroups* groups_;
  const StatsRequest* request_;
  TraceStats sums_;
  // Of Rates::bins and Rates::course.
  TimeBins birth_bins_, death_bins_;
  TimeBins birth_parts_, death_parts_;
  std::vector<uint64_t> small_sizes_;
  std::unordered_map<uint64_t, uint64_t> large_sizes_;
};

void GroupStats::Add(const GroupStats& other) {
  all.Add(other.all);
  never_freed.Add(other.never_freed);
  temporary.Add(other.temporary);
  short_large.Add(other.short_large);
  slack_bytes += other.slack_bytes;
}

void RateBin::Add(const RateBin& other) {
  allocations += other.allocations;
  bytes += other.bytes;
  frees += other.frees;
}

void ThreadStats::Add(const ThreadStats& other) {
  allocated.Add(other.allocated);
  frees += other.frees;
  frees_of_others += other.frees_of_others;
  freed_by_others += other.freed_by_others;
  never_freed.Add(other.never_freed);
}

StatsCounts::StatsCounts(const TraceFile& trace, const BlockGroups& groups,
                         const StatsRequest& request)
    : groups_(&groups), request_(&request), small_sizes_(kSmallSizes) {
  constexpr uint64_t kSecond = 1'000'000'000;
  constexpr uint64_t kMaxBins = 1 << 19;  // six days of seconds
  sums_.duration_ns = trace.end_ns();
  // Before it was forked a process allocated nothing.
  uint64_t from = trace.facts().recording.began_ns();
  uint64_t to = sums_.duration_ns;
  if (request.matcher != nullptr) {
    const BlockFilter& filter = request.matcher->filter();
    from = std::max(from, filter.born.from.time_ns);
    to = std::min(to, filter.born.to.time_ns);
  }
  sums_.rates.over_ns = to - std::min(from, to);
  const uint64_t seconds = sums_.duration_ns / kSecond + 1;
  const uint64_t per_bin = (seconds + kMaxBins - 1) / kMaxBins;
  sums_.rates.bin_ns = per_bin * kSecond;
  sums_.rates.bins.resize(seconds / per_bin + 1);
  birth_bins_ = death_bins_ = TimeBins(sums_.rates.bin_ns, sums_.rates.bins.size());
  birth_parts_ = death_parts_ = TimeBins(sums_.duration_ns / kCourseParts + 1, kCourseParts);
  sums_.threads.resize(trace.threads().size() + 1);
  sums_.groups.resize(groups.size());
}

ThreadStats* StatsCounts::ThreadAt(uint32_t index) {
  return &sums_.threads[std::min<size_t>(index, sums_.threads.size() - 1)];
}

// Small sizes are counted one by one, and make the rest of what there is to know about them.
void StatsCounts::CountSize(uint64_t size, uint64_t blocks) {
  if (size < kSmallSizes) [[likely]] {
    small_sizes_[size] += blocks;
  } else {
    CountLarge(size, blocks);
  }
}

void StatsCounts::CountLarge(uint64_t size, uint64_t blocks) {
  const auto known = large_sizes_.find(size);
  if (known != large_sizes_.end()) {
    known->second += blocks;
  } else if (large_sizes_.size() < kMaxLargeSizes) {
    large_sizes_.emplace(size, blocks);
  } else {
    sums_.all_sizes_counted = false;
  }
}

// Every block of the trace: what can be made of other counts is not counted here.
void StatsCounts::Add(const Block& block) {
  const uint64_t size = block.size;
  GroupStats& group = sums_.groups[groups_->Of(block)];
  ThreadStats* thread = ThreadAt(block.thread);
  group.all.Add(size);
  group.slack_bytes += block.slack;
  thread->allocated.Add(size);
  Rates& rates = sums_.rates;
  for (RateBin* bin : {&rates.bins[birth_bins_.At(block.birth_ns)],
                       &rates.course[birth_parts_.At(block.birth_ns)]}) {
    ++bin->allocations;
    bin->bytes += size;
  }
  CountSize(size, 1);
  if (size >= kSmallSizes) sums_.sizes[SizeClassOf(size)].all.Add(size);
  sums_.calls[std::min<size_t>(block.function, kCallKinds - 1)].Add(size);
  sums_.alignments[std::min<size_t>(block.alignment_log2, kAlignments - 1)].Add(size);
  if (block.slack == UINT16_MAX) ++sums_.slack_at_limit;
  if (block.previous != kNoBlock) {
    ++(block.is_mapping ? sums_.pieces : sums_.resizes);
  } else if (block.function == static_cast<uint8_t>(wire::AllocationFunction::kRealloc)) {
    ++sums_.unlinked_reallocs;
  }

  if (block.is_live()) {
    group.never_freed.Add(size);
    sums_.sizes[SizeClassOf(size)].never_freed.Add(size);
    thread->never_freed.Add(size);
    return;
  }
  ++rates.bins[death_bins_.At(block.death_ns)].frees;
  ++rates.course[death_parts_.At(block.death_ns)].frees;
  ThreadStats* freeing = ThreadAt(block.death_thread);
  ++freeing->frees;
  if (block.death_thread != block.thread && block.death_thread != kNoIndex) {
    ++freeing->frees_of_others;
    ++thread->freed_by_others;
  }
  if (block.distance != kForeign && block.distance <= request_->temporary_within) {
    group.temporary.Add(size);
  }
  if (size >= request_->large_bytes && block.lifetime_ns(0) < request_->short_ns) {
    group.short_large.Add(size);
  }
}

// What follows from the counts.
void StatsCounts::SumUp() {
  for (const GroupStats& group : sums_.groups) {
    sums_.allocated.Add(group.all);
    sums_.never_freed.Add(group.never_freed);
    sums_.temporary.Add(group.temporary);
    sums_.short_large.Add(group.short_large);
    sums_.slack_bytes += group.slack_bytes;
  }
  sums_.freed.blocks = sums_.allocated.blocks - sums_.never_freed.blocks;
  sums_.freed.bytes = sums_.allocated.bytes - sums_.never_freed.bytes;
  for (uint64_t size = 0; size < kSmallSizes; ++size) {
    sums_.sizes[SizeClassOf(size)].all.Add({small_sizes_[size], small_sizes_[size] * size});
  }
  sums_.zero_sized.blocks = small_sizes_[0];
}

void StatsCounts::Add(const StatsCounts& other) {
  const TraceStats& o = other.sums_;
  sums_.slack_at_limit += o.slack_at_limit;
  sums_.resizes += o.resizes;
  sums_.unlinked_reallocs += o.unlinked_reallocs;
  sums_.pieces += o.pieces;
  for (size_t i = 0; i < o.rates.bins.size(); ++i) sums_.rates.bins[i].Add(o.rates.bins[i]);
  for (size_t i = 0; i < kCourseParts; ++i) sums_.rates.course[i].Add(o.rates.course[i]);
  for (size_t i = 0; i < kSizeClasses; ++i) {
    sums_.sizes[i].all.Add(o.sizes[i].all);
    sums_.sizes[i].never_freed.Add(o.sizes[i].never_freed);
  }
  for (size_t i = 0; i < kCallKinds; ++i) sums_.calls[i].Add(o.calls[i]);
  for (size_t i = 0; i < kAlignments; ++i) sums_.alignments[i].Add(o.alignments[i]);
  for (size_t i = 0; i < o.threads.size(); ++i) sums_.threads[i].Add(o.threads[i]);
  for (size_t i = 0; i < o.groups.size(); ++i) sums_.groups[i].Add(o.groups[i]);
  sums_.all_sizes_counted = sums_.all_sizes_counted && o.all_sizes_counted;
  for (uint64_t size = 0; size < kSmallSizes; ++size) {
    small_sizes_[size] += other.small_sizes_[size];
  }
  for (const auto& [size, blocks] : other.large_sizes_) CountSize(size, blocks);
}

TraceStats StatsCounts::Take() {
  SumUp();
  std::vector<ExactSize> sizes;
  for (uint64_t size = 0; size < kSmallSizes; ++size) {
    if (small_sizes_[size] != 0) sizes.push_back({size, small_sizes_[size]});
  }
  for (const auto& [size, blocks] : large_sizes_) sizes.push_back({size, blocks});
  sums_.distinct_sizes = sizes.size();
  const size_t kept = std::min(sizes.size(), request_->exact_sizes);
  std::partial_sort(sizes.begin(), sizes.begin() + static_cast<ptrdiff_t>(kept), sizes.end(),
                    [](const ExactSize& a, const ExactSize& b) {
                      return a.blocks != b.blocks ? a.blocks > b.blocks : a.size < b.size;
                    });
  sizes.resize(kept);
  sums_.exact_sizes = std::move(sizes);
  Rates& rates = sums_.rates;
  for (size_t i = 0; i < rates.bins.size(); ++i) {
    if (rates.bins[i].allocations > rates.bins[rates.busiest].allocations) rates.busiest = i;
  }
  return std::move(sums_);
}

namespace {

// The live sets of all moments, as one thread finds them.
struct LiveSets {
  struct Set {
    std::vector<PlacedBlock> blocks;
    uint64_t bytes = 0;
    uint64_t slack_bytes = 0;
  };
  std::vector<Set> sets;

  void Add(size_t moment, const Block& block, uint32_t group) {
    Set& set = sets[moment];
    set.blocks.push_back(PlacedBlock::Make(block, group));
    set.bytes += block.size;
    set.slack_bytes += block.slack;
  }
  void Add(const LiveSets& other) {
    for (size_t i = 0; i < sets.size(); ++i) {
      sets[i].blocks.insert(sets[i].blocks.end(), other.sets[i].blocks.begin(),
                            other.sets[i].blocks.end());
      sets[i].bytes += other.sets[i].bytes;
      sets[i].slack_bytes += other.sets[i].slack_bytes;
    }
  }
};

// The peak by the index of the file alone; how many blocks it had is in its segment.
Result<StatsPeak> PeakOfAll(const TraceFile& trace, std::optional<uint64_t> known_blocks) {
  HG_ASSIGN(const PeakPlace peak, PeakOf(trace, false));
  if (peak.bytes == 0) return StatsPeak{0, known_blocks.value_or(0), 0};
  StatsPeak result{peak.bytes, known_blocks.value_or(0), peak.time_ns};
  if (known_blocks) return result;
  if (peak.at.segment == trace.segments().size()) {
    result.blocks = trace.segments().back().live_blocks_after;
    return result;
  }
  result.blocks = trace.segments()[peak.at.segment].live_blocks_before;
  if (peak.at.event == 0) return result;
  Segment segment;
  HG_TRY(trace.ReadSegment(peak.at.segment, kOldBlocks | kNewBlocks | kEvents, &segment));
  const size_t end = std::min<size_t>(peak.at.event, segment.events.size());
  for (size_t i = 0; i < end; ++i) {
    const Event& event = segment.events[i];
    if (event.born != kNoIndex && !segment.blocks[event.born].is_mapping) ++result.blocks;
    if (event.died != kNoIndex && !segment.blocks[event.died].is_mapping) --result.blocks;
  }
  return result;
}

}  // namespace

Result<TraceStats> ReadStats(const TraceFile& trace, const BlockGroups& groups,
                             const StatsRequest& request, ProgressSink* progress) {
  const Mappings mappings = request.matcher == nullptr ? false : request.matcher->filter().mappings;
  std::vector<LiveMoment> moments;
  for (const std::string& text : request.moments) {
    HG_ASSIGN(LiveMoment moment, LiveMoment::Find(trace, text, mappings));
    moments.push_back(std::move(moment));
  }
  const Matcher* matcher = request.matcher;
  const auto matches = [matcher](const Block& block) {
    return matcher == nullptr ? !block.is_mapping : matcher->Matches(block);
  };
  OrderedFoldOptions options;
  options.workers = WorkersFor(trace, groups.size() * sizeof(GroupStats) + (4 << 20));
  options.progress = progress;
  const auto has_live = [&](size_t segment) {
    return std::any_of(moments.begin(), moments.end(),
                       [&](const LiveMoment& moment) { return moment.Concerns(trace, segment); });
  };
  // Only pages and chains need addresses.
  options.parts_of = [&](size_t segment) -> uint32_t {
    const bool moves = request.wants_chains && ReallocChains::HasAny(trace.segments()[segment]);
    const bool places = moves || has_live(segment) || matcher != nullptr;
    constexpr uint32_t kLeast = kOldBlocks | kNewBlocks | kDetails;
    return places ? kLeast | kAddresses : kLeast;
  };
  if (!request.wants_counts && !request.wants_chains) options.wanted = has_live;
  const size_t counters = request.wants_counts ? options.workers : 1;
  std::vector<StatsCounts> counts(counters, StatsCounts(trace, groups, request));
  std::vector<LiveSets> live(options.workers);
  for (LiveSets& sets : live) sets.sets.resize(moments.size());
  ReallocChains chains(groups, matcher);
  std::unique_ptr<MarkedBlocks> marked;
  if (matcher != nullptr && request.wants_counts) {
    marked = std::make_unique<MarkedBlocks>(trace.blocks());
  }

  OrderedFold fold;
  fold.each = [&](size_t worker, size_t index, const Segment& segment) {
    // Few segments have blocks that were live then.
    std::vector<size_t> concerned;
    for (size_t i = 0; i < moments.size(); ++i) {
      if (moments[i].Concerns(trace, index)) concerned.push_back(i);
    }
    constexpr size_t kAhead = 8;
    ForEachDeath(segment, [&](const Block& block, size_t at) {
      if (!matches(block)) return;
      if (request.wants_counts) {
        if (at + kAhead < segment.blocks.size()) counts[worker].Prefetch((&block)[kAhead]);
        counts[worker].Add(block);
      }
      if (marked != nullptr) marked->Mark(block.number);
      for (const size_t i : concerned) {
        if (moments[i].WasLive(index, at, block)) live[worker].Add(i, block, groups.Of(block));
      }
    });
  };
  if (request.wants_chains) {
    fold.in_order = [&](size_t, const Segment& segment) { chains.Add(segment); };
  }
  HG_TRY(FoldOrdered(trace, options, fold));
  HG_TRY(trace.ForEachSurvivor([&](const Block& block) {
    if (request.wants_chains) chains.AddSurvivor(block);
    if (!matches(block)) return;
    if (request.wants_counts) counts[0].Add(block);
    if (marked != nullptr) marked->Mark(block.number);
    for (size_t i = 0; i < moments.size(); ++i) {
      if (moments[i].WasLive(block)) live[0].Add(i, block, groups.Of(block));
    }
  }));

  for (size_t i = 1; i < counts.size(); ++i) counts[0].Add(counts[i]);
  for (size_t i = 1; i < live.size(); ++i) {
    live[0].Add(live[i]);
    live[i] = {};
  }
  TraceStats stats = counts[0].Take();
  if (request.wants_counts && marked != nullptr) {
    HG_ASSIGN(stats.peak, FindPeakOf(trace, *marked, progress));
  } else if (request.wants_counts) {
    std::optional<uint64_t> blocks;  // at the peak, if that is asked for anyway
    const auto peak = std::find(request.moments.begin(), request.moments.end(), "peak");
    if (peak != request.moments.end()) {
      blocks = live[0].sets[static_cast<size_t>(peak - request.moments.begin())].blocks.size();
    }
    HG_ASSIGN(stats.peak, PeakOfAll(trace, blocks));
  }
  stats.chains = chains.total();
  stats.chain_rows = chains.Rows();
  constexpr uint64_t kUnits[] = {4 << 10, 64 << 10, 1 << 20};
  for (size_t i = 0; i < moments.size(); ++i) {
    LiveSets::Set& set = live[0].sets[i];
    const size_t blocks = set.blocks.size();
    PageUse use =
        MeasurePageUse({std::begin(kUnits), std::end(kUnits)}, request.pin_unit, &set.blocks);
    use.name = request.moments[i];
    use.time_ns = moments[i].time_ns();
    use.blocks = blocks;
    use.bytes = set.bytes;
    use.slack_bytes = set.slack_bytes;
    stats.pages.push_back(std::move(use));
    if (request.take_blocks) request.take_blocks(i, std::move(set.blocks));
    set = {};
  }
  return stats;
}

}  // namespace heapgauge::trace
