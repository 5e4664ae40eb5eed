// The figures of each stack that a question about a trace asks for: what was allocated in a range
// of time, what is live at its end, and one value of choice. The heart of trace_profile.h, without
// names or profiles.
//
// Questions about times and stacks alone are answered from sums of whole segments, with the events
// of at most three; others look at each block once, when its fate is known: at its death, or among
// the survivors.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/trace/answer/profile_request.h"
#include "core/trace/answer/stack_totals.h"

namespace heapgauge::trace {

struct StackFigure {
  uint64_t allocated_blocks = 0;
  uint64_t allocated_bytes = 0;
  uint64_t live_blocks = 0;
  uint64_t live_bytes = 0;
  // The value of choice; 0 for kLive and kAllocated, which are above.
  int64_t value_blocks = 0;
  int64_t value_bytes = 0;
  double lifetime_byte_ns = 0;  // of kLifetime, in place of bytes

  bool any() const {
    return (allocated_blocks | live_blocks) != 0 || value_blocks != 0 || value_bytes != 0 ||
           lifetime_byte_ns != 0;
  }
  void Add(const StackFigure& other);
};

struct StackAnswer {
  std::vector<StackFigure> stacks;  // by number
  uint64_t to_ns = 0;               // the end of the range: where live figures are from
  uint64_t peak_ns = 0;             // the most of its kind within the range, if it was asked for
  uint64_t peak_bytes = 0;
};

// The stacks need names if the filter asks about them. `index` and `cache` are of whoever keeps the
// trace open; both may be empty.
Result<StackAnswer> FigureStacks(const TraceFile& trace, const TraceFile::Stacks& stacks,
                                 const ProfileRequest& request, const SumsIndex& index,
                                 SegmentCache* cache, ProgressSink* progress);

}  // namespace heapgauge::trace
