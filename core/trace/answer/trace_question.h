// What people ask of a trace, before it is open, and the options that say it.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/trace/answer/trace_profile.h"

namespace heapgauge::trace {

// What people ask of a trace, before it is open: moments are words ("peak", "40%", "12.3s") which
// only the trace can tell. All commands that take the options of a trace make one of these.
//
// Plain data.
struct Question {
  // Moments; "" not asked. `at` excludes the others.
  std::string at;
  std::string from;
  std::string to;
  std::vector<std::string> live_at;
  TraceValue value = TraceValue::kLive;
  bool blocks = false;
  std::string thread;  // kernel id or regular expression over names
  BlockFilter filter;  // without moments and threads

  // Something was asked that only a trace can answer.
  bool any() const { return !(*this == Question()); }
  // Nothing but `at`, for files that know several moments.
  bool only_a_moment() const;
  // Nothing but a moment that other recordings know too: at most "peak" or "end".
  bool only_peak_or_end() const;
  // Nothing but one of the values, up to the end: profiles of other kinds have some of them.
  bool only_a_value() const;
  // The same of what was freed: sums of what was allocated and is live tell.
  bool only_freed() const { return value == TraceValue::kFreed && only_a_value(); }

  friend bool operator==(const Question&, const Question&) = default;
};

// Fails if a moment is none, lies before the start or behind the end, or no thread is meant.
Result<ProfileRequest> RequestOf(const Question& question, const TraceFile& trace);
Result<BlockFilter> FilterOf(const Question& question, const TraceFile& trace);
// The same of the blocks that were allocated in the range.
Result<BlockFilter> BlocksBornWithin(const Question& question, const TraceFile& trace);

}  // namespace heapgauge::trace
