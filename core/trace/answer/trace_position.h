// Places between two events of a trace, by segment: where questions about moments are answered.
// They tell events of the same nanosecond apart.
//
// Pure functions of an open trace; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/result.h"
#include "core/trace/answer/edge_segments.h"
#include "core/trace/file/moment.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::trace {

// Before the event of that index in the segment; at the end: {segments, 0}.
struct Position {
  size_t segment = 0;
  uint32_t event = 0;

  friend auto operator<=>(const Position&, const Position&) = default;
};

// Reads the segments that the two ends of a range are within, at the same time.
void PrepareEdges(const TraceFile& trace, const TraceRange& range, EdgeSegments* edges);

Result<Position> PositionAt(const TraceFile& trace, const TraceMoment& moment, EdgeSegments* edges);

// The same place as a moment. `time_ns` is the time of the event before it.
TraceMoment MomentAt(const TraceFile& trace, Position at, uint64_t time_ns);

// The number of the first block that is born at or behind the position.
Result<uint64_t> FirstBlockAt(const TraceFile& trace, Position at, EdgeSegments* edges);

}  // namespace heapgauge::trace
