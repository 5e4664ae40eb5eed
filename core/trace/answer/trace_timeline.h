// The timeline of a trace: exact, from its events; from the index and the sums of segments where a
// whole one falls into a single step, so that even a very long trace is drawn quickly.
//
// One pass over the trace, two if single stacks are asked for. Memory: one segment, and a few bytes
// for each stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/fold/timeline.h"
#include "core/trace/answer/selected_blocks.h"
#include "core/trace/file/moment.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::trace {

struct TimelineRequest {
  TimeAxis axis = TimeAxis::kTime;  // not kInstructions
  TraceRange range;
  size_t steps = 1000;  // at least 1
  size_t bands = 0;     // stacks that were largest at the peak of the range, to be followed
  size_t lanes = 0;     // threads that did the most within it; needs the axis kTime
  // Which blocks it is about; needs the axis kTime, and reads every event. The memory of the
  // process is all of it, whatever blocks are chosen.
  BlockChoice counts;
};

struct TraceTimeline {
  Timeline timeline;             // frames of bands are left to those who know names
  std::vector<uint32_t> stacks;  // of the bands, by number
};

// Heap blocks only, mappings left out, unless others are chosen.
Result<TraceTimeline> ReadTraceTimeline(const TraceFile& trace, const TimelineRequest& request,
                                        ProgressSink* progress = nullptr);

}  // namespace heapgauge::trace
