#include "core/trace/answer/live_set.h"

#include <algorithm>

#include "core/trace/answer/trace_moment.h"
#include "core/trace/answer/trace_position.h"

namespace heapgauge::trace {

Result<LiveMoment> LiveMoment::Find(const TraceFile& trace, const std::string& text,
                                    Mappings mappings) {
  HG_ASSIGN(const TraceMoment asked, MomentWithin(trace, text, mappings));
  EdgeSegments edges(trace, nullptr);
  HG_ASSIGN(const Position at, PositionAt(trace, asked, &edges));
  LiveMoment moment;
  moment.time_ns_ = asked.time_ns;
  moment.segment_ = at.segment;
  HG_ASSIGN(moment.born_, FirstBlockAt(trace, at, &edges));
  if (at.segment == trace.segments().size()) return moment;
  const SegmentInfo& info = trace.segments()[at.segment];
  moment.dead_.resize(size_t{info.old_deaths} + info.births);
  if (at.event == 0) return moment;
  HG_ASSIGN(const Segment* segment, edges.Get(at.segment));
  for (uint32_t i = 0; i < at.event && i < segment->events.size(); ++i) {
    const uint32_t died = segment->events[i].died;
    if (died < moment.dead_.size()) moment.dead_[died] = true;
  }
  return moment;
}

bool LiveMoment::Concerns(const TraceFile& trace, size_t segment) const {
  if (segment <= segment_) return segment == segment_;
  return trace.segments()[segment].oldest_birth < born_;
}

PlacedBlock PlacedBlock::Make(const Block& block, uint32_t group) {
  PlacedBlock live;
  live.address = block.address;
  live.group = group;
  live.packed_size = static_cast<uint32_t>(block.size);
  if (block.size >= kLarge) {
    const uint64_t units =
        std::min((block.size >> 16) + ((block.size & 0xffff) != 0 ? 1 : 0), uint64_t{kLarge - 1});
    live.packed_size = kLarge + static_cast<uint32_t>(units);
  }
  return live;
}

}  // namespace heapgauge::trace
