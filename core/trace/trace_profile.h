// From a trace to a profile: the live set of any moment, or what happened in a range of time, per
// stack. All reports that know profiles then work on it.
//
// Whole segments between two moments come from their sums, only those at the edges are read event
// by event: a range of any length costs about the same. Filters that look at single blocks (size,
// lifetime, thread) read the segments of the range.
#ifndef HEAPGAUGE_CORE_TRACE_TRACE_PROFILE_H_
#define HEAPGAUGE_CORE_TRACE_TRACE_PROFILE_H_

#include <cstdint>
#include <string>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/model/profile.h"
#include "core/trace/trace_filter.h"

namespace heapgauge::trace {

// A moment of a trace as people write it: "peak", "end", "start", "1.5s", "250ms", "12:30" (minutes
// and seconds), "40%" of its duration.
Result<uint64_t> ParseMoment(const TraceFile& trace, const std::string& text);

// What a figure counts. In a range [from, to]:
enum class Value {
  kLive,  // live at `to`
  kPeak,  // live at the moment within the range at which the total was highest
  kAllocated,
  kFreed,
  kGrowth,      // allocated minus freed: what the range added to the live heap; may be negative
  kTemporary,   // freed with a distance up to Filter::temporary_within (0 unless set)
  kLifetime,    // bytes times seconds of the blocks that were freed
  kLeft,        // allocated in the range and still live at its end
  kNeverFreed,  // allocated in the range and still live at the end of the trace
};

struct ProfileRequest {
  uint64_t from_ns = 0;
  uint64_t to_ns = kNever;  // the end
  // The profile has the four heap types (allocated and live at `to`, in blocks and bytes), and,
  // when another value is asked for, that one as two more types, which become the default.
  Value value = Value::kLive;
  Filter filter;
};

Result<Profile> ReadTraceProfile(const TraceFile& trace, const ProfileRequest& request,
                                 ProgressSink* progress = nullptr);

}  // namespace heapgauge::trace

#endif  // HEAPGAUGE_CORE_TRACE_TRACE_PROFILE_H_
