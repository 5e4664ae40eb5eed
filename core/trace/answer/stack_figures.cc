#include "core/trace/answer/stack_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "core/base/text.h"
#include "core/trace/answer/fold_segments.h"
#include "core/trace/answer/trace_moment.h"

namespace heapgauge::trace {
namespace {

constexpr std::pair<TraceValue, const char*> kValues[] = {
    {TraceValue::kLive, "live"},
    {TraceValue::kPeak, "peak"},
    {TraceValue::kAllocated, "allocated"},
    {TraceValue::kFreed, "freed"},
    {TraceValue::kGrowth, "growth"},
    {TraceValue::kTemporary, "temporary"},
    {TraceValue::kLifetime, "lifetime"},
    {TraceValue::kLeft, "left"},
    {TraceValue::kNeverFreed, "never-freed"},
};

}  // namespace

const char* ValueName(TraceValue value) {
  for (const auto& [known, name] : kValues) {
    if (known == value) return name;
  }
  return "";
}

Result<TraceValue> ParseValue(std::string_view name) {
  std::string names;
  for (const auto& [value, known] : kValues) {
    if (name == known) return value;
    names += (names.empty() ? "" : ", ") + std::string(known);
  }
  return Fail(ErrorCode::kInvalidArgument,
              "'" + Printable(name) + "' is no value of a trace; there are " + names);
}

std::string ProfileRequest::MomentText() const {
  const bool whole = range.is_whole();
  const std::string from = FormatMoment(range.from);
  const std::string to = FormatMoment(range.to);
  std::string text;
  if (!range.from.is_start() && !range.to.is_end()) {
    text = fmt::format("from {} to {}", from, to);
  } else if (!range.from.is_start()) {
    text = fmt::format("from {} to the end", from);
  } else if (!range.to.is_end()) {
    text = (value == TraceValue::kLive && !at_peak ? "at " : "up to ") + to;
  }
  if (at_peak) return whole ? "at the peak" : "at the peak " + text;
  if (!whole) return text;
  return value == TraceValue::kLive ? "at the end" : "from start to end";
}

namespace {

constexpr Position kNeverDied = {SIZE_MAX, 0};

// A range of a trace, and the numbers of the blocks that are born in it.
struct Range {
  Position begin;
  Position end;
  Position peak;
  uint64_t first_block = 0;
  uint64_t end_block = 0;
  uint64_t peak_block = 0;  // the first that is born behind the peak
};

bool SumsAnswer(const BlockFilter& filter) {
  return filter.only_time_and_stacks() && !filter.asks_about_times();
}

class Figuring {
 public:
  Figuring(const TraceFile& trace, const ProfileRequest& request, const SumsIndex& index,
           SegmentCache* cache, ProgressSink* progress)
      : trace_(trace),
        request_(request),
        value_(request.value),
        index_(index),
        progress_(progress),
        edges_(trace, cache) {}

  Result<StackAnswer> Run(const TraceFile::Stacks& stacks) {
    // What counts as temporary is part of the value, not a condition on all figures.
    if (value_ == TraceValue::kTemporary) {
      within_ = request_.filter.temporary_within.value_or(0);
      request_.filter.temporary_within.reset();
    }
    HG_ASSIGN(const Matcher matcher, Matcher::Compile(request_.filter, trace_, stacks));
    HG_TRY(Locate());
    // What is left at the end of the trace is never freed in it.
    if (value_ == TraceValue::kNeverFreed && range_.end.segment >= trace_.segments().size()) {
      value_ = TraceValue::kLeft;
    }
    answer_.stacks.resize(std::max<size_t>(trace_.stack_count(), 1));
    if (!SumsAnswer(request_.filter)) {
      HG_TRY(FromBlocks(matcher));
      return std::move(answer_);
    }
    HG_TRY(FromSums());
    for (uint32_t i = 0; i < answer_.stacks.size(); ++i) {
      if (!matcher.MatchesStack(i)) answer_.stacks[i] = {};
    }
    return std::move(answer_);
  }

 private:
  Status Locate() {
    const TraceRange& asked = request_.range;
    if (asked.from > asked.to) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("the range ends before it begins: from {} to {}",
                              FormatMoment(asked.from), FormatMoment(asked.to)));
    }
    PrepareEdges(trace_, asked, &edges_);
    HG_ASSIGN(range_.begin, PositionAt(trace_, asked.from, &edges_));
    HG_ASSIGN(range_.end, PositionAt(trace_, asked.to, &edges_));
    answer_.to_ns = std::min(asked.to.time_ns, trace_.end_ns());
    if (request_.at_peak || value_ == TraceValue::kPeak) {
      HG_ASSIGN(const PeakPlace peak,
                PeakBetween(trace_, range_.begin, range_.end, request_.filter.mappings, &edges_));
      range_.peak = peak.at;
      answer_.peak_ns = peak.at == range_.begin ? asked.from.time_ns : peak.time_ns;
      answer_.peak_bytes = peak.bytes;
    }
    if (request_.at_peak) {
      range_.end = range_.peak;
      answer_.to_ns = answer_.peak_ns;
    }
    HG_ASSIGN(range_.first_block, FirstBlockAt(trace_, range_.begin, &edges_));
    HG_ASSIGN(range_.end_block, FirstBlockAt(trace_, range_.end, &edges_));
    HG_ASSIGN(range_.peak_block, FirstBlockAt(trace_, range_.peak, &edges_));
    return {};
  }

  // Sums of whole segments.

  Status FromSums() {
    std::vector<Position> positions = {range_.begin, range_.end};
    if (value_ == TraceValue::kPeak) positions.insert(positions.begin() + 1, range_.peak);
    HG_ASSIGN(const std::vector<StackTotals> totals,
              TotalsAt(trace_, positions, request_.filter.mappings, index_, &edges_, progress_));
    const StackTotals& before = totals.front();
    const StackTotals& after = totals.back();
    for (size_t i = 0; i < answer_.stacks.size(); ++i) {
      StackFigure& f = answer_.stacks[i];
      const StackTotal& a = before[i];
      const StackTotal& b = after[i];
      f.allocated_blocks = b.allocated_blocks - a.allocated_blocks;
      f.allocated_bytes = b.allocated_bytes - a.allocated_bytes;
      f.live_blocks = b.live_blocks();
      f.live_bytes = b.live_bytes();
      switch (value_) {
        case TraceValue::kLive:
        case TraceValue::kAllocated:
          break;
        case TraceValue::kPeak:
          Set(totals[1][i].live_blocks(), totals[1][i].live_bytes(), &f);
          break;
        case TraceValue::kFreed:
          Set(b.freed_blocks - a.freed_blocks, b.freed_bytes - a.freed_bytes, &f);
          break;
        case TraceValue::kGrowth:
        case TraceValue::kLeft:  // and what was freed of older ones, below
          Set(b.live_blocks() - a.live_blocks(), b.live_bytes() - a.live_bytes(), &f);
          break;
        case TraceValue::kTemporary:
          Set(b.temporary_blocks - a.temporary_blocks, b.temporary_bytes - a.temporary_bytes, &f);
          break;
        case TraceValue::kLifetime:
          f.value_blocks = static_cast<int64_t>(b.freed_blocks - a.freed_blocks);
          // A difference of sums of fractions need not be 0 where nothing was freed.
          if (f.value_blocks != 0) f.lifetime_byte_ns = b.lifetime_byte_ns - a.lifetime_byte_ns;
          break;
        case TraceValue::kNeverFreed:
          break;
      }
    }
    return AddFromBlocks();
  }

  static void Set(uint64_t blocks, uint64_t bytes, StackFigure* figure) {
    figure->value_blocks = static_cast<int64_t>(blocks);
    figure->value_bytes = static_cast<int64_t>(bytes);
  }

  // What sums do not know of the value.
  Status AddFromBlocks() {
    const bool from_start = range_.begin == Position{};
    if (value_ == TraceValue::kTemporary && within_ > 0) {
      for (StackFigure& f : answer_.stacks) Set(0, 0, &f);
      return FoldDeaths([&](const Block& block) {
        return block.distance != kForeign && block.distance <= within_;
      });
    }
    if (value_ == TraceValue::kLeft) {
      if (from_start) return {};
      return FoldDeaths([&](const Block& block) { return block.number < range_.first_block; },
                        [&](size_t i) {
                          return trace_.segments()[i].oldest_birth < range_.first_block
                                     ? uint32_t{kOldBlocks}
                                     : 0u;
                        });
    }
    if (value_ != TraceValue::kNeverFreed) return {};
    return trace_.ForEachSurvivor([&](const Block& block) {
      if (block.number < range_.first_block || block.number >= range_.end_block) return;
      Count(block, &answer_.stacks);
    });
  }

  void Count(const Block& block, std::vector<StackFigure>* figures) const {
    if (!CountsIn(block, request_.filter.mappings)) return;
    if (block.stack >= figures->size()) return;
    StackFigure& f = (*figures)[block.stack];
    ++f.value_blocks;
    f.value_bytes += static_cast<int64_t>(block.size);
  }

  // Adds the blocks that died in the range and are wanted to the value. `parts_of` says what
  // of a whole segment is needed.
  Status FoldDeaths(
      const std::function<bool(const Block&)>& wanted,
      const std::function<uint32_t(size_t)>& parts_of = [](size_t) {
        return uint32_t{kOldBlocks | kNewBlocks};
      }) {
    for (const size_t i : Edges()) {
      HG_ASSIGN(const Segment* segment, edges_.Get(i));
      for (uint32_t e = 0; e < segment->events.size(); ++e) {
        const Position at = {i, e};
        if (at < range_.begin || at >= range_.end) continue;
        if (segment->events[e].died == kNoIndex) continue;
        const Block& block = segment->blocks[segment->events[e].died];
        if (wanted(block)) Count(block, &answer_.stacks);
      }
    }
    const std::set<size_t> edges = Edges();
    return FoldInto(
        range_.begin.segment, range_.end.segment,
        [&](size_t i) { return edges.count(i) != 0 ? 0u : parts_of(i); },
        [&](const Segment& segment, size_t, std::vector<StackFigure>* figures) {
          for (const Block& block : segment.blocks) {
            if (!block.is_live() && wanted(block)) Count(block, figures);
          }
        });
  }

  // Segments that a position is within.
  std::set<size_t> Edges() const {
    std::set<size_t> edges;
    for (const Position& at : {range_.begin, range_.end, range_.peak}) {
      if (at.event != 0) edges.insert(at.segment);
    }
    return edges;
  }

  // Goes through segments [first, end) with figures of its own for each thread, and adds them up.
  Status FoldInto(
      size_t first, size_t end, const std::function<uint32_t(size_t)>& parts_of,
      const std::function<void(const Segment&, size_t, std::vector<StackFigure>*)>& visit) {
    FoldOptions options;
    options.first = first;
    options.end = end;
    options.workers = FoldWorkers(answer_.stacks.size() * sizeof(StackFigure));
    options.progress = progress_;
    std::vector<std::vector<StackFigure>> parts(options.workers);
    HG_TRY(FoldSegments(trace_, options, parts_of,
                        [&](size_t worker, const Segment& segment, size_t i) {
                          if (parts[worker].empty()) parts[worker].resize(answer_.stacks.size());
                          visit(segment, i, &parts[worker]);
                        }));
    for (const std::vector<StackFigure>& part : parts) {
      for (size_t i = 0; i < part.size(); ++i) answer_.stacks[i].Add(part[i]);
    }
    return {};
  }

  // Block by block.

  Status FromBlocks(const Matcher& matcher) {
    const std::set<size_t> edges = Edges();
    for (const size_t i : edges) {
      HG_ASSIGN(const Segment* segment, edges_.Get(i));
      for (uint32_t e = 0; e < segment->events.size(); ++e) {
        if (segment->events[e].died == kNoIndex) continue;
        const Block& block = segment->blocks[segment->events[e].died];
        if (matcher.Matches(block)) Take(block, {i, e}, &answer_.stacks);
      }
    }
    const uint32_t more = matcher.filter().needed_parts();
    const auto parts_of = [&](size_t i) -> uint32_t {
      if (edges.count(i) != 0) return 0;
      if (i < range_.end.segment) return kOldBlocks | kNewBlocks | more;
      // Behind the range: who of those that were live at its end died later?
      return trace_.segments()[i].oldest_birth < range_.end_block ? kOldBlocks | more : 0U;
    };
    HG_TRY(FoldInto(range_.begin.segment, SIZE_MAX, parts_of,
                    [&](const Segment& segment, size_t i, std::vector<StackFigure>* figures) {
                      for (const Block& block : segment.blocks) {
                        if (!block.is_live() && matcher.Matches(block)) {
                          Take(block, {i, 0}, figures);
                        }
                      }
                    }));
    return trace_.ForEachSurvivor([&](const Block& block) {
      if (block.number < range_.end_block && matcher.Matches(block)) {
        Take(block, kNeverDied, &answer_.stacks);
      }
    });
  }

  // A block whose end is known.
  void Take(const Block& block, Position died, std::vector<StackFigure>* figures) const {
    if (block.stack >= figures->size()) return;
    StackFigure& f = (*figures)[block.stack];
    const bool born_before_end = block.number < range_.end_block;
    const bool born_within = born_before_end && block.number >= range_.first_block;
    const bool live_at_end = born_before_end && died >= range_.end;
    const bool died_within = died >= range_.begin && died < range_.end;
    if (born_within) {
      ++f.allocated_blocks;
      f.allocated_bytes += block.size;
    }
    if (live_at_end) {
      ++f.live_blocks;
      f.live_bytes += block.size;
    }
    const auto add = [&](int64_t sign) {
      f.value_blocks += sign;
      f.value_bytes += sign * static_cast<int64_t>(block.size);
    };
    switch (value_) {
      case TraceValue::kLive:
      case TraceValue::kAllocated:
        return;
      case TraceValue::kPeak:
        if (block.number < range_.peak_block && died >= range_.peak) add(1);
        return;
      case TraceValue::kFreed:
        if (died_within) add(1);
        return;
      case TraceValue::kGrowth:
        if (born_within) add(1);
        if (died_within) add(-1);
        return;
      case TraceValue::kTemporary:
        if (died_within && block.distance != kForeign && block.distance <= within_) add(1);
        return;
      case TraceValue::kLifetime:
        if (!died_within) return;
        ++f.value_blocks;
        f.lifetime_byte_ns += static_cast<double>(block.size) *
                              static_cast<double>(block.lifetime_ns(block.death_ns));
        return;
      case TraceValue::kLeft:
        if (born_within && live_at_end) add(1);
        return;
      case TraceValue::kNeverFreed:
        if (born_within && died == kNeverDied) add(1);
        return;
    }
  }

  const TraceFile& trace_;
  ProfileRequest request_;
  TraceValue value_;
  const SumsIndex& index_;
  ProgressSink* progress_;
  EdgeSegments edges_;
  Range range_;
  uint32_t within_ = 0;
  StackAnswer answer_;
};

}  // namespace

void StackFigure::Add(const StackFigure& other) {
  allocated_blocks += other.allocated_blocks;
  allocated_bytes += other.allocated_bytes;
  live_blocks += other.live_blocks;
  live_bytes += other.live_bytes;
  value_blocks += other.value_blocks;
  value_bytes += other.value_bytes;
  lifetime_byte_ns += other.lifetime_byte_ns;
}

Result<StackAnswer> FigureStacks(const TraceFile& trace, const TraceFile::Stacks& stacks,
                                 const ProfileRequest& request, const SumsIndex& index,
                                 SegmentCache* cache, ProgressSink* progress) {
  return Figuring(trace, request, index, cache, progress).Run(stacks);
}

}  // namespace heapgauge::trace
