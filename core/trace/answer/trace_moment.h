// Moments of a trace as people write them.
//
// Pure functions of an open trace; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/trace/file/moment.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::trace {

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
