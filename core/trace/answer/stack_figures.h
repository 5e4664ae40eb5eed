// What a profile of a trace is about (range, blocks, figure), and the figures of each stack that
// answer it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/trace/answer/stack_totals.h"
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
Result<TraceValue> ParseValue(std::string_view name);

// What a profile of a trace is about: which range, which blocks, which figure.
//
// Plain data.
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

// The figures of each stack that a question about a trace asks for: what was allocated in a range
// of time, what is live at its end, and one value of choice. The heart of trace_profile.h, without
// names or profiles.
//
// Questions about times and stacks alone are answered from sums of whole segments, with the events
// of at most three; others look at each block once, when its fate is known: at its death, or among
// the survivors.
//
// The stacks need names if the filter asks about them. `index` and `cache` are of whoever keeps the
// trace open; both may be empty.
Result<StackAnswer> FigureStacks(const TraceFile& trace, const TraceFile::Stacks& stacks,
                                 const ProfileRequest& request, const SumsIndex& index,
                                 SegmentCache* cache, ProgressSink* progress);

}  // namespace heapgauge::trace
