// The measure from outside: the stack as libgcc's unwinder sees it.
//
// Test code; async-signal-safe as far as _Unwind_Backtrace is.
#pragma once

#include <cstdint>

#include "agent/unwind/plain_walk.h"

namespace heapgauge::agent {

// Fills `frames`, innermost first, from the frame whose state is `start` on, and returns how many.
// 0 if libgcc does not see that frame.
uint32_t WalkWithLibgcc(const Registers& start, PlainFrame* frames, uint32_t capacity);

}  // namespace heapgauge::agent
