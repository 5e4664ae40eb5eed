// Moments of a trace: as people write them, and as places between two of its events.
//
// A moment t means: after all that happened at or before t. The peak is the exception: it is after
// one certain event, and others may have the same time. So questions are answered between
// positions, which tell events of the same nanosecond apart.
//
// Pure functions of an open trace; thread-safe.
#ifndef HEAPGAUGE_CORE_TRACE_TRACE_MOMENT_H_
#define HEAPGAUGE_CORE_TRACE_TRACE_MOMENT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/trace/edge_segments.h"
#include "core/trace/trace_file.h"

namespace heapgauge::trace {

// A moment as people write it: "peak", "end", "start", "1.5s", "250ms", "1h2m3s", "12:30" (minutes
// and seconds), "40%" of its duration, a plain number of seconds; also "peak-100ms", "end-5s".
// Times of a forked process count from the start of its parent; "start" and percentages go by its
// own, from the fork on.
Result<uint64_t> ParseMoment(const TraceFile& trace, const std::string& text);
// The same; fails if it lies behind the end.
Result<uint64_t> MomentWithin(const TraceFile& trace, const std::string& text);

// "1.5s", "250ms", "3m05s", "12:30", "80": nanoseconds.
Result<uint64_t> ParseDuration(std::string_view text);

// "850ns", "12.34ms", "12.345s", "3m05.2s", "2h14m07s": ParseMoment reads it again.
std::string FormatMoment(uint64_t ns);

// Before the event of that index in the segment; at the end: {segments, 0}.
struct Position {
  size_t segment = 0;
  uint32_t event = 0;

  friend auto operator<=>(const Position&, const Position&) = default;
};

// Reads the segments that the two ends of a range are within, at the same time.
void PrepareEdges(const TraceFile& trace, uint64_t from_ns, uint64_t to_ns, EdgeSegments* edges);

// Before the first event at or after `time_ns`.
Result<Position> PositionBefore(const TraceFile& trace, uint64_t time_ns, EdgeSegments* edges);
// Behind the last event at or before `time_ns`.
Result<Position> PositionAfter(const TraceFile& trace, uint64_t time_ns, EdgeSegments* edges);

// The number of the first block that is born at or behind the position.
Result<uint64_t> FirstBlockAt(const TraceFile& trace, Position at, EdgeSegments* edges);

// Where within [begin, end] the live heap was largest, mappings left out: the first such place.
struct PeakPlace {
  Position at;  // behind the event that made it so
  uint64_t bytes = 0;
  uint64_t time_ns = 0;
};
Result<PeakPlace> PeakBetween(const TraceFile& trace, Position begin, Position end,
                              EdgeSegments* edges);

}  // namespace heapgauge::trace

#endif  // HEAPGAUGE_CORE_TRACE_TRACE_MOMENT_H_
