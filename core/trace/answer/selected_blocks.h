// Which blocks of a trace are chosen, and the peak of those.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/fold/functions.h"
#include "core/trace/answer/live_stacks.h"
#include "core/trace/answer/trace_filter.h"
#include "core/trace/answer/trace_stats.h"
#include "core/trace/file/block.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::trace {

// The peak of some blocks of a trace: those that a filter leaves. Which ones these are is known
// only when each has died, so the trace is read twice: first to mark them, one bit a block, then to
// add up sizes in the order of events.
//
// The most bytes that the marked blocks had at any event, and when first.
Result<StatsPeak> FindPeakOf(const TraceFile& trace, const MarkedBlocks& marked,
                             ProgressSink* progress);

// Which blocks of a trace are chosen, by a filter and by the functions on their stacks, for those
// who go through its events: there a block must be known at its birth. What a filter asks about
// its fate (freed, lifetime, live at a moment) is known later, so then the trace is read once
// before, and those that match are marked, one bit a block.
//
// Read-only once it is made; any number of threads may ask. The trace must outlive it.
struct Selection {
  BlockFilter filter;
  RowFilter rows;  // focus and ignore, as reports have them
  Granularity granularity = Granularity::kFunctions;

  // It is not all of the heap.
  bool any() const;
  std::string Text() const;
};

// `stacks` with names, if the selection asks about them. Empty if all blocks are meant.
Result<BlockChoice> SelectBlocks(const TraceFile& trace, const TraceFile::Stacks& stacks,
                                 const Selection& selection, ProgressSink* progress = nullptr);

// The stacks that focus and ignore leave, by number; empty: all.
Result<std::vector<bool>> SelectStacks(const TraceFile::Stacks& stacks, const RowFilter& rows,
                                       Granularity granularity);

}  // namespace heapgauge::trace
