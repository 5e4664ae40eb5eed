#include "core/trace/answer/trace_peak.h"

#include <vector>

namespace heapgauge::trace {
namespace {

constexpr uint32_t kParts = kOldBlocks | kNewBlocks | kEvents;

class PeakSearch {
 public:
  PeakSearch(const TraceFile& trace, Position begin, Position end, Mappings mappings,
             EdgeSegments* edges)
      : trace_(trace), begin_(begin), end_(end), mappings_(mappings), edges_(edges) {
    best_.at = begin;
  }

  Result<PeakPlace> Run() {
    const auto& segments = trace_.segments();
    for (size_t i = 0; i < segments.size() && Position{i, 0} <= end_; ++i) {
      HG_TRY(ReadMappings(i));
      if (i >= begin_.segment) HG_TRY(Search(i));
      mapped_ += mapped_more_;
    }
    if (begin_.segment >= segments.size()) {
      const uint64_t heap = segments.empty() ? 0 : segments.back().live_bytes_after;
      return PeakPlace{begin_, (CountsHeap() ? heap : 0) + mapped_, trace_.end_ns()};
    }
    // Behind the last event is before the first of the next.
    Position& at = best_.at;
    if (at.event >= segments[at.segment].events) at = {at.segment + 1, 0};
    return best_;
  }

 private:
  bool CountsHeap() const { return !mappings_ || !*mappings_; }
  bool CountsMappings() const { return !mappings_ || *mappings_; }

  uint64_t LiveBefore(const SegmentInfo& info) const {
    return (CountsHeap() ? info.live_bytes_before : 0) + mapped_;
  }

  // What the segment does to mappings, where they count.
  Status ReadMappings(size_t i) {
    any_mapping_ = false;
    mapped_more_ = 0;
    if (!CountsMappings()) return {};
    HG_TRY(trace_.ReadSums(i, &sums_));
    for (const StackSums& s : sums_) {
      if (!s.is_mapping) continue;
      any_mapping_ = true;
      mapped_more_ += s.allocated_bytes - s.freed_bytes;
    }
    return {};
  }

  void Offer(uint64_t bytes, Position at, uint64_t time_ns) {
    if (!first_ && bytes <= best_.bytes) return;
    best_ = {at, bytes, time_ns};
    first_ = false;
  }

  Status Search(size_t i) {
    const SegmentInfo& info = trace_.segments()[i];
    const uint32_t from = i == begin_.segment ? begin_.event : 0;
    const uint32_t to = i == end_.segment ? end_.event : info.events;
    const bool whole = from == 0 && to == info.events;
    if (from == 0) Offer(LiveBefore(info), {i, 0}, info.begin_ns);
    if (to == 0) return {};
    if (!whole) {
      HG_ASSIGN(const Segment* segment, edges_->Get(i));
      OfferEvents(*segment, i, from, to);
    } else if (any_mapping_) {
      HG_TRY(trace_.ReadSegment(i, kParts, &segment_));
      OfferEvents(segment_, i, from, to);
    } else if (CountsHeap() && info.peak_event < to) {
      // Of a segment that only frees, the peak may be what it began with.
      Offer(info.peak_bytes + mapped_, {i, info.peak_event + 1}, info.peak_ns);
    }
    return {};
  }

  void OfferEvents(const Segment& segment, size_t i, uint32_t from, uint32_t to) {
    uint64_t live = LiveBefore(segment.info);
    for (uint32_t e = 0; e < to && e < segment.events.size(); ++e) {
      const Event& event = segment.events[e];
      if (from > 0 && e == from) Offer(live, {i, e}, event.time_ns);
      live += BytesOf(segment, event.born) - BytesOf(segment, event.died);
      if (e >= from) Offer(live, {i, e + 1}, event.time_ns);
    }
    // Behind the last event of the range that begins here.
    if (from > 0 && from >= to) Offer(live, {i, from}, segment.info.end_ns);
  }

  uint64_t BytesOf(const Segment& segment, uint32_t index) const {
    if (index == kNoIndex || !CountsIn(segment.blocks[index], mappings_)) return 0;
    return segment.blocks[index].size;
  }

  const TraceFile& trace_;
  const Position begin_;
  const Position end_;
  const Mappings mappings_;
  EdgeSegments* edges_;
  PeakPlace best_;
  bool first_ = true;
  uint64_t mapped_ = 0;       // live when the segment begins
  uint64_t mapped_more_ = 0;  // by the segment
  bool any_mapping_ = false;  // comes or goes in it
  std::vector<StackSums> sums_;
  Segment segment_;
};

}  // namespace

Result<PeakPlace> PeakBetween(const TraceFile& trace, Position begin, Position end,
                              Mappings mappings, EdgeSegments* edges) {
  return PeakSearch(trace, begin, end, mappings, edges).Run();
}

Result<PeakPlace> PeakOf(const TraceFile& trace, Mappings mappings) {
  EdgeSegments edges(trace, nullptr);
  return PeakBetween(trace, {}, {trace.segments().size(), 0}, mappings, &edges);
}

Result<TraceMoment> PeakMoment(const TraceFile& trace, Mappings mappings) {
  HG_ASSIGN(const PeakPlace peak, PeakOf(trace, mappings));
  if (peak.bytes == 0) return TraceMoment{trace.facts().recording.began_ns(), 0};
  return MomentAt(trace, peak.at, peak.time_ns);
}

}  // namespace heapgauge::trace
