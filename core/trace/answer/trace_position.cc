#include "core/trace/answer/trace_position.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace heapgauge::trace {
namespace {

// The first segment that has events behind the time.
size_t SegmentBehind(const TraceFile& trace, uint64_t time_ns) {
  const auto& segments = trace.segments();
  const auto it =
      std::partition_point(segments.begin(), segments.end(),
                           [&](const SegmentInfo& info) { return info.end_ns <= time_ns; });
  return static_cast<size_t>(it - segments.begin());
}

// Behind so many events of the trace.
Position BehindEvents(const TraceFile& trace, uint64_t events) {
  const auto& segments = trace.segments();
  const auto next =
      std::partition_point(segments.begin(), segments.end(),
                           [&](const SegmentInfo& info) { return info.first_event <= events; });
  if (next == segments.begin()) return {};
  const auto index = static_cast<size_t>(next - segments.begin()) - 1;
  const uint64_t event = events - segments[index].first_event;
  if (event >= segments[index].events) return {index + 1, 0};
  return {index, static_cast<uint32_t>(event)};
}

// The segment whose events must be read to find the moment, if there is one.
std::optional<size_t> SegmentWithin(const TraceFile& trace, const TraceMoment& moment) {
  if (moment.is_among_events()) {
    const Position at = BehindEvents(trace, moment.events);
    return at.event == 0 ? std::nullopt : std::optional<size_t>(at.segment);
  }
  const size_t index = SegmentBehind(trace, moment.time_ns);
  const bool within =
      index < trace.segments().size() && trace.segments()[index].begin_ns <= moment.time_ns;
  return within ? std::optional<size_t>(index) : std::nullopt;
}

}  // namespace

void PrepareEdges(const TraceFile& trace, const TraceRange& range, EdgeSegments* edges) {
  std::vector<size_t> needed;
  for (const TraceMoment& moment : {range.from, range.to}) {
    if (const auto segment = SegmentWithin(trace, moment)) needed.push_back(*segment);
  }
  edges->Prepare(needed);
}

Result<Position> PositionAt(const TraceFile& trace, const TraceMoment& moment,
                            EdgeSegments* edges) {
  if (moment.is_among_events()) return BehindEvents(trace, moment.events);
  const std::optional<size_t> within = SegmentWithin(trace, moment);
  if (!within) return Position{SegmentBehind(trace, moment.time_ns), 0};
  HG_ASSIGN(const Segment* segment, edges->Get(*within));
  const auto later =
      std::partition_point(segment->events.begin(), segment->events.end(),
                           [&](const Event& event) { return event.time_ns <= moment.time_ns; });
  if (later == segment->events.end()) return Position{*within + 1, 0};
  return Position{*within, static_cast<uint32_t>(later - segment->events.begin())};
}

TraceMoment MomentAt(const TraceFile& trace, Position at, uint64_t time_ns) {
  const uint64_t before = at.segment < trace.segments().size()
                              ? trace.segments()[at.segment].first_event
                              : trace.events();
  return {time_ns, before + at.event};
}

Result<uint64_t> FirstBlockAt(const TraceFile& trace, Position at, EdgeSegments* edges) {
  if (at.segment >= trace.segments().size()) return trace.blocks();
  uint64_t number = trace.segments()[at.segment].first_block;
  if (at.event == 0) return number;
  HG_ASSIGN(const Segment* segment, edges->Get(at.segment));
  for (uint32_t i = 0; i < at.event && i < segment->events.size(); ++i) {
    number += segment->events[i].born != kNoIndex ? 1 : 0;
  }
  return number;
}

}  // namespace heapgauge::trace
