// A thread marks what it uses (a lane, a walker) with its stack pointer, so that a signal handler
// that comes in between keeps away from it. A handler that jumps out of the call leaves the mark
// behind. Is the thread back, so that nobody is at it any more?
//
// Async-signal-safe; one system call where the answer may be yes.
#ifndef HEAPGAUGE_AGENT_SAMPLE_LEFT_BEHIND_H_
#define HEAPGAUGE_AGENT_SAMPLE_LEFT_BEHIND_H_

#include <cstdint>

#include "agent/sys/os.h"
#include "agent/unwind/stack_memory.h"

namespace heapgauge::agent {

// At the same place of its stack, or further up, it is. But handlers may have stacks of their own,
// which may lie up there too, and coroutines have others to which they will return: so the answer
// is no wherever both places are not proven to be on the thread's own stack, and where the kernel
// cannot be asked whether this is a handler's.
inline bool IsBackFrom(uintptr_t marked_sp, uintptr_t sp, const StackMemory& stack) {
  return sp >= marked_sp && stack.HasBoth(marked_sp, sp) && os::OffAlternateStack();
}

}  // namespace heapgauge::agent

#endif  // HEAPGAUGE_AGENT_SAMPLE_LEFT_BEHIND_H_
