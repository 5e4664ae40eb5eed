// Moments of a trace as people write them, and the peak, which is one of them.
//
// Pure functions of an open trace; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/trace/answer/trace_position.h"
#include "core/trace/file/moment.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::trace {

// When most was live, in a range of a trace: of the heap, of mappings, or of both.
//
// The index of the file tells it for the heap. Mappings are few: segments in which none comes or
// goes are answered from the index and the sums, the others are read event by event, one at a time.

// Where within [begin, end] most was live: the first such place.
struct PeakPlace {
  Position at;  // behind the event that made it so
  uint64_t bytes = 0;
  uint64_t time_ns = 0;
};
Result<PeakPlace> PeakBetween(const TraceFile& trace, Position begin, Position end,
                              Mappings mappings, EdgeSegments* edges);

// Of the whole trace. The start, if there never was anything.
Result<PeakPlace> PeakOf(const TraceFile& trace, Mappings mappings);
Result<TraceMoment> PeakMoment(const TraceFile& trace, Mappings mappings);

// A moment as people write it: "peak", "end", "start", "1.5s", "250ms", "1h2m3s", "12:30" (minutes
// and seconds), "40%" of its duration, a plain number of seconds; also "peak-100ms", "end-5s".
// Times of a forked process count from the start of its parent; "start" and percentages go by its
// own, from the fork on. "peak" is that of the heap, or of the `mappings` that are asked about.
// Fails if a distance leads to before the start; it may lie behind the end.
Result<TraceMoment> ParseMoment(const TraceFile& trace, const std::string& text,
                                Mappings mappings = false);
// The same; fails if it lies behind the end.
Result<TraceMoment> MomentWithin(const TraceFile& trace, const std::string& text,
                                 Mappings mappings = false);
// From the one to the other; "" the start, the end. A range may reach over the start and the end of
// a trace, but must have a part of it.
Result<TraceRange> ParseRange(const TraceFile& trace, const std::string& from,
                              const std::string& to, Mappings mappings = false);

// "1.5s", "250ms", "3m05s", "12:30", "80": nanoseconds.
Result<uint64_t> ParseDuration(std::string_view text);

}  // namespace heapgauge::trace
