// Goes through the segments of a trace with several threads: in any order, or in turns where the
// order counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/trace/file/segment.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::trace {

struct FoldOptions {
  size_t first = 0;       // segments to look at: [first, end)
  size_t end = SIZE_MAX;  // the last one at the most
  size_t workers = 1;     // see FoldWorkers
  ProgressSink* progress = nullptr;
  std::string what = "reading the trace";  // for the progress
};

// How many threads to use if each keeps `bytes_each` beside its segment: not more than the machine
// has cores, and bounded memory.
size_t FoldWorkers(uint64_t bytes_each);

// Goes through segments of a trace on all cores of the machine: how questions that need single
// blocks are answered. Each thread has one segment at a time, so memory does not depend on the
// length of the trace.
//
// Segments are dealt out in turn (worker = index modulo workers), so that sums of fractions come
// out the same each time.
//
// `parts_of` says which parts of a segment are needed (Parts; 0: skip it). `visit` is called for
// each by the thread of the number `worker` < workers; threads of different numbers at the same
// time. Stops at the first error.
Status FoldSegments(
    const TraceFile& trace, const FoldOptions& options,
    const std::function<uint32_t(size_t index)>& parts_of,
    const std::function<void(size_t worker, const Segment& segment, size_t index)>& visit);

struct OrderedFoldOptions {
  uint32_t parts = kEverything;
  size_t first = 0;  // segment
  size_t workers = 1;
  ProgressSink* progress = nullptr;
  // Segments for which it is false are not read; empty: all are.
  std::function<bool(size_t)> wanted;
  // For each segment what is needed in place of `parts`; empty: that.
  std::function<uint32_t(size_t)> parts_of;
};

struct OrderedFold {
  // By any thread. Calls with different `worker` (below OrderedFoldOptions::workers) may be at
  // once.
  std::function<void(size_t worker, size_t index, const Segment& segment)> each;
  // After `each`, one at a time, in the order of the trace; may be empty.
  std::function<void(size_t index, const Segment& segment)> in_order;
};

// As many as are worth it, if each keeps `bytes_each` beside its segment.
size_t WorkersFor(const TraceFile& trace, uint64_t bytes_each);

// Goes through the segments of a trace with several threads, for what needs the order of the trace
// in part: what can be added up in any order is done by the threads side by side, then they take
// turns.
//
// Memory: one segment for each thread.
//
// Stops at the first segment that cannot be read, and returns why.
Status FoldOrdered(const TraceFile& trace, const OrderedFoldOptions& options,
                   const OrderedFold& fold);

// Calls visit(block, index in the segment) for each block whose life ended in the segment. Together
// with the survivors these are all blocks of a trace, each once, as the filter wants them.
template <typename Visit>
void ForEachDeath(const Segment& segment, const Visit& visit) {
  for (size_t i = 0; i < segment.blocks.size(); ++i) {
    if (!segment.blocks[i].is_live()) visit(segment.blocks[i], i);
  }
}

}  // namespace heapgauge::trace
