// The peak of some blocks of a trace: those that a filter leaves. Which ones these are is known
// only when each has died, so the trace is read twice: first to mark them, one bit a block, then to
// add up sizes in the order of events.
#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/trace/answer/trace_stats.h"
#include "core/trace/file/marked_blocks.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::trace {

// The most bytes that the marked blocks had at any event, and when first.
Result<StatsPeak> FindPeakOf(const TraceFile& trace, const MarkedBlocks& marked,
                             ProgressSink* progress);

}  // namespace heapgauge::trace
