// All that the unwinder knows about the processor: DWARF register numbers, how a call and a signal
// frame lie on the stack, what the signal restorer looks like, where the thread pointer is. Each
// architecture has a header with the same names.
#pragma once

#if defined(__x86_64__)
#include "agent/unwind/arch_x86_64.h"
#else
#error "agent/unwind: write the header of this architecture beside arch_x86_64.h"
#endif
