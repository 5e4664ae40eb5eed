// Goes through segments of a trace on all cores of the machine: how questions that need single
// blocks are answered. Each thread has one segment at a time, so memory does not depend on the
// length of the trace.
//
// Segments are dealt out in turn (worker = index modulo workers), so that sums of fractions come
// out the same each time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "core/base/progress.h"
#include "core/base/result.h"
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

// `parts_of` says which parts of a segment are needed (Parts; 0: skip it). `visit` is called for
// each by the thread of the number `worker` < workers; threads of different numbers at the same
// time. Stops at the first error.
Status FoldSegments(
    const TraceFile& trace, const FoldOptions& options,
    const std::function<uint32_t(size_t index)>& parts_of,
    const std::function<void(size_t worker, const Segment& segment, size_t index)>& visit);

}  // namespace heapgauge::trace
