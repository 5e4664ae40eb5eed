// What each thread allocated and freed over time: the lanes of a timeline. A server whose memory
// jumps shows here whose work it was.
//
// Reads all blocks of the range once; twice where there are so many threads that a row of figures
// for each would not fit into memory.
#pragma once

#include <cstddef>

#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/fold/timeline.h"
#include "core/trace/answer/selected_blocks.h"
#include "core/trace/file/moment.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::trace {

// Adds lanes to a timeline whose steps are made: the `most` threads that allocated and freed most
// often, then one for all others that did anything. Heap blocks, or those that count. REQUIRES: the
// axis is time, and the timeline is of the range.
Status AddThreadLanes(const TraceFile& trace, const TraceRange& range, size_t most,
                      Timeline* timeline, ProgressSink* progress = nullptr,
                      const BlockChoice& counts = {},
                      size_t rows_at_once = 0);  // 0: as memory allows; tests have their own

}  // namespace heapgauge::trace
