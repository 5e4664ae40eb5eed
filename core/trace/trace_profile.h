// From a trace to a profile: the live set of any moment, or what happened in a range of time, per
// stack. All reports that know profiles then work on it.
//
// Whole segments between two moments come from their sums, only those at the edges are read event
// by event: a range of any length costs about the same. Filters that look at single blocks (size,
// lifetime, thread) read the segments of the range.
#ifndef HEAPGAUGE_CORE_TRACE_TRACE_PROFILE_H_
#define HEAPGAUGE_CORE_TRACE_TRACE_PROFILE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/model/profile.h"
#include "core/trace/trace_filter.h"
#include "core/trace/trace_moment.h"

namespace heapgauge::trace {

// What a figure counts, in a range: of what happened after `from`, up to and including `to`.
enum class TraceValue {
  kLive,  // live at `to`
  kPeak,  // live at the moment within the range at which the total of its kind was highest
  kAllocated,
  kFreed,
  kGrowth,      // allocated minus freed: what the range added to the live heap; may be negative
  kTemporary,   // freed with a distance up to BlockFilter::temporary_within (0 unless set)
  kLifetime,    // bytes times seconds of the blocks that were freed; to seven digits
  kLeft,        // allocated in the range and still live at its end
  kNeverFreed,  // allocated in the range and still live at the end of the trace
};

// "live", "peak", "allocated", "freed", "growth", "temporary", "lifetime", "left", "never-freed".
const char* ValueName(TraceValue value);
Result<TraceValue> ParseValue(const std::string& name);

struct ProfileRequest {
  TraceRange range;
  // The profile has the four heap types (allocated and live at `to`, in blocks and bytes), and,
  // when another value is asked for, that one as two more types, which become the default.
  TraceValue value = TraceValue::kLive;
  BlockFilter filter;
  // The range ends at its highest total, to the event: live figures are those of the peak.
  bool at_peak = false;
  // The default type is the one in blocks.
  bool blocks = false;

  // What a profile of a trace is about if nothing else is said: all blocks, at its end.
  bool IsEndOfAll() const {
    return range.is_whole() && !at_peak && value == TraceValue::kLive && filter == BlockFilter();
  }
  // "at 12.3s", "at the peak", "at the end", "from 2s to 5s".
  std::string MomentText() const;
};

// Gives the locations of a profile their names.
using NameStacks = std::function<void(Profile*)>;

// `name` is called if the filter asks about names; then the profile has them.
Result<Profile> ReadTraceProfile(const TraceFile& trace, const ProfileRequest& request,
                                 ProgressSink* progress = nullptr, const NameStacks& name = {});

}  // namespace heapgauge::trace

#endif  // HEAPGAUGE_CORE_TRACE_TRACE_PROFILE_H_
