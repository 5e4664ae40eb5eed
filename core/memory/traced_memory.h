// The live blocks of a program all of whose calls are recorded: its gauge file has no samples, its
// trace has every block.
//
// Reads the trace that is being written (core/trace/file/live_trace.h), and waits until its
// recorder has written what it has.
#pragma once

#include "core/gauge/gauge_memory.h"

namespace heapgauge {

// Puts them where samples would be, each for itself alone. Leaves `gauge` as it is if the
// program is not traced, or if its trace cannot be found or read.
void UseTracedBlocks(GaugeMemory* gauge);

}  // namespace heapgauge
