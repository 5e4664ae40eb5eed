// A trace as a massif.out file: snapshots at well chosen moments, trees for some of them.
//
// Two passes: the first goes through all events and finds the moments, the second adds up stacks at
// those that get a tree, from the sums of segments. Memory: one segment and a few bytes per stack.
#pragma once

#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/formats/massif/massif_file.h"
#include "core/formats/massif/massif_tree.h"
#include "core/trace/file/moment.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::trace {

struct MassifRequest {
  MassifUnit unit = MassifUnit::kMilliseconds;  // or kBytes
  TraceRange range;
  size_t most_snapshots = 100;
  size_t detailed_every = 10;  // the peak and the end have a tree in any case
  MassifTreeOptions tree;
};

// `stacks` with names, as far as they are known.
Result<MassifFile> TraceMassif(const TraceFile& trace, const TraceFile::Stacks& stacks,
                               const MassifRequest& request, ProgressSink* progress = nullptr);

}  // namespace heapgauge::trace
