// The figures of a whole trace, or of the blocks that a filter leaves: how many, how fast, how
// large, by which calls and threads, what is wasted, what is resized, what lives too short, how the
// heap lies in memory.
//
// Memory: sums for each group and thread, a count for each exact size, and the live set of the
// moments that are asked for (16 bytes a block). With a filter, one bit more for each block of the
// trace, which the peak is found by.
#pragma once

#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/trace/answer/block_groups.h"
#include "core/trace/answer/trace_stats.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::trace {

Result<TraceStats> ReadStats(const TraceFile& trace, const BlockGroups& groups,
                             const StatsRequest& request, ProgressSink* progress = nullptr);

}  // namespace heapgauge::trace
