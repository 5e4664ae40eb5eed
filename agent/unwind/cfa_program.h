// Runs the call frame program of one function up to one code address and boils the resulting row
// down to a Rule. Registers other than the stack pointer, the frame pointer and the return address
// are parsed and ignored.
//
// What cannot be said as a Rule (CFA in another register, return address elsewhere than behind the
// CFA, frame pointer moved to another register) is kUnsupported: the walk ends there. No state;
// about 1 KiB of stack; allocation-free, async-signal-safe.
#pragma once

#include <cstdint>

#include "agent/unwind/eh_frame.h"
#include "agent/unwind/rule.h"

namespace heapgauge::agent {

// The rule in force at `pc`, which lies in the function's range.
Rule EvaluateProgram(const FrameDescription& function, uintptr_t pc);

}  // namespace heapgauge::agent
