// What a profile of a trace is about: which range, which blocks, which figure.
//
// Plain data.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/trace/answer/trace_filter.h"
#include "core/trace/file/moment.h"

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

}  // namespace heapgauge::trace
