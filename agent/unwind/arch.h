// All that the unwinder knows about the processor: DWARF register numbers, how a call and a signal
// frame lie on the stack, what the signal restorer looks like, where the thread pointer is. Each
// architecture has a header with the same names.
#ifndef HEAPGAUGE_AGENT_UNWIND_ARCH_H_
#define HEAPGAUGE_AGENT_UNWIND_ARCH_H_

#if defined(__x86_64__)
#include "agent/unwind/arch_x86_64.h"
#else
#error "agent/unwind: write the header of this architecture beside arch_x86_64.h"
#endif

#endif  // HEAPGAUGE_AGENT_UNWIND_ARCH_H_
