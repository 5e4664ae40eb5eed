// What the program's own allocator says about itself: how much it holds, how much of that is in
// use, how much it keeps for later. Asked through the functions that each allocator has for it,
// found by name in the object whose malloc is called; one that lacks them simply says less.
//
// Some allocators walk all their free blocks for the answer and hold their locks meanwhile. So this
// is for requests, not for every sample, and only for code that interrupts nothing: no signal
// handler on the stack, no allocator further out. Allocation-free on our side; errno is left alone.
// One thread at a time: a second one is turned away.
#pragma once

#include "wire/gauge_format.h"

namespace heapgauge::agent {

// Looks for the functions. REQUIRES: ResolveRealFunctions; before threads.
void ResolveAllocatorStatistics();

// Fills in all figures the allocator has and sets their bits in `mask`; `state`, `time_ns` and
// `requests` are the caller's. False if there are none, or another thread is asking just now.
bool CollectAllocatorStatistics(wire::AllocatorStatistics* statistics);

}  // namespace heapgauge::agent
