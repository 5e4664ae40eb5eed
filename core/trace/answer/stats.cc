#include "core/trace/answer/stats.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "core/trace/answer/ordered_fold.h"
#include "core/trace/answer/selected_peak.h"
#include "core/trace/answer/stats_counts.h"
#include "core/trace/answer/trace_peak.h"

namespace heapgauge::trace {
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
