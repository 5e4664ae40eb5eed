// The live blocks of a program that is being recorded, with their stacks: what a leak check of it
// starts from.
//
// Memory is that of the blocks, and of the stacks that they have. Tables are read out of the gauge
// file and checked as everything in it.
#pragma once

#include "core/leaks/scan/known_blocks.h"
#include "core/trace/record/process_recorder.h"

namespace heapgauge::leaks {

// As of the last event that was read. The recorder's thread. Of a forked child these are the blocks
// that it has allocated itself. `exact` is left false if events were lost.
KnownBlocks ExactBlocks(trace::ProcessRecorder* recorder);

}  // namespace heapgauge::leaks
