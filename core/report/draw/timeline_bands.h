// What the stacks are called whose history a timeline of a trace shows.
//
// A pure function.
#pragma once

#include "core/trace/answer/trace_timeline.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge {

// Names the frames of each band, from the one that asked for memory outwards. `stacks` has names.
void NameBands(const trace::TraceFile::Stacks& stacks, trace::TraceTimeline* made);

}  // namespace heapgauge
