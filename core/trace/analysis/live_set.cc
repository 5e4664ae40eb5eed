#include "core/trace/analysis/live_set.h"

#include <algorithm>

#include "core/trace/trace_profile.h"

namespace heapgauge::trace {

LiveMoment LiveMoment::AtEnd(const TraceFile& trace) {
  LiveMoment moment;
  moment.time_ns_ = trace.end_ns();
  moment.segment_ = trace.segments().size();
  moment.born_ = kNoBlock;
  return moment;
}

Result<LiveMoment> LiveMoment::AfterEvent(const TraceFile& trace, size_t segment, uint32_t event) {
  Segment read;
  HG_TRY(trace.ReadSegment(segment, kOldBlocks | kNewBlocks | kEvents, &read));
  LiveMoment moment;
  moment.segment_ = segment;
  moment.born_ = read.info.first_block;
  moment.dead_.resize(read.blocks.size());
  const size_t end = std::min<size_t>(size_t{event} + 1, read.events.size());
  for (size_t i = 0; i < end; ++i) {
    const Event& e = read.events[i];
    if (e.born != kNoIndex) ++moment.born_;
    if (e.died != kNoIndex) moment.dead_[e.died] = true;
    moment.time_ns_ = e.time_ns;
  }
  return moment;
}

Result<LiveMoment> LiveMoment::AtTime(const TraceFile& trace, uint64_t time_ns) {
  const std::vector<SegmentInfo>& segments = trace.segments();
  const auto after =
      std::partition_point(segments.begin(), segments.end(),
                           [&](const SegmentInfo& info) { return info.begin_ns <= time_ns; });
  LiveMoment moment;
  moment.time_ns_ = time_ns;
  if (after == segments.begin()) return moment;  // nothing was born yet
  if (after == segments.end() && segments.back().end_ns <= time_ns) {
    moment = AtEnd(trace);
    moment.time_ns_ = time_ns;
    return moment;
  }
  const auto segment = static_cast<size_t>(after - segments.begin()) - 1;
  Segment read;
  HG_TRY(trace.ReadSegment(segment, kOldBlocks | kNewBlocks | kEvents, &read));
  const auto later =
      std::partition_point(read.events.begin(), read.events.end(),
                           [&](const Event& event) { return event.time_ns <= time_ns; });
  if (later == read.events.begin()) return moment;
  HG_ASSIGN(moment,
            AfterEvent(trace, segment, static_cast<uint32_t>(later - read.events.begin()) - 1));
  moment.time_ns_ = time_ns;
  return moment;
}

Result<LiveMoment> LiveMoment::Find(const TraceFile& trace, const std::string& text) {
  if (text == "end") return AtEnd(trace);
  if (text == "peak") {
    HG_ASSIGN(const TraceFile::Peak peak, trace.FindPeak());
    if (peak.bytes == 0) return AtTime(trace, 0);
    return AfterEvent(trace, peak.segment, peak.event);
  }
  HG_ASSIGN(const uint64_t time_ns, MomentWithin(trace, text));
  return AtTime(trace, time_ns);
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
