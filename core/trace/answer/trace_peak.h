// When most was live, in a range of a trace: of the heap, of mappings, or of both.
//
// The index of the file tells it for the heap. Mappings are few: segments in which none comes or
// goes are answered from the index and the sums, the others are read event by event, one at a time.
//
// Pure functions of an open trace; thread-safe.
#pragma once

#include <cstdint>

#include "core/base/result.h"
#include "core/trace/answer/trace_position.h"
#include "core/trace/file/moment.h"

namespace heapgauge::trace {

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

}  // namespace heapgauge::trace
