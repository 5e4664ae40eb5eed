#include "core/trace/answer/exact_moment.h"

#include "core/trace/answer/trace_position.h"

namespace heapgauge::trace {

Result<ExactMoment> ExactMoment::Find(const TraceFile& trace, const TraceMoment& moment) {
  ExactMoment exact;
  exact.time_ns = moment.time_ns;
  if (!moment.is_among_events()) return exact;
  EdgeSegments edges(trace, nullptr);
  HG_ASSIGN(const Position at, PositionAt(trace, moment, &edges));
  const std::vector<SegmentInfo>& segments = trace.segments();
  exact.first_unborn =
      at.segment < segments.size() ? segments[at.segment].first_block : trace.blocks();
  std::vector<uint64_t> dead;
  Segment segment;
  // Its nanosecond may have begun segments ago.
  for (size_t i = std::min(at.segment + 1, segments.size());
       i-- > 0 && (i == at.segment || segments[i].end_ns >= moment.time_ns);) {
    const uint32_t count = i == at.segment ? at.event : segments[i].events;
    if (count == 0) continue;
    HG_TRY(trace.ReadSegment(i, kOldBlocks | kNewBlocks | kEvents, &segment));
    for (uint32_t e = 0; e < count && e < segment.events.size(); ++e) {
      const Event& event = segment.events[e];
      if (i == at.segment && event.born != kNoIndex) ++exact.first_unborn;
      if (event.time_ns == moment.time_ns && event.died != kNoIndex) {
        dead.push_back(segment.blocks[event.died].number);
      }
    }
  }
  std::sort(dead.begin(), dead.end());
  exact.dead = std::make_shared<const std::vector<uint64_t>>(std::move(dead));
  return exact;
}

}  // namespace heapgauge::trace
