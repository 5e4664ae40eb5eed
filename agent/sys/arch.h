// What the agent needs of the processor, beside its hooks (hooks/entries_ARCH.S) and what the
// unwinder knows of it (unwind/arch.h). Each architecture has a header with these names in
// heapgauge::agent::arch:
//
//   long Syscall6(number, a, b, c, d, e, f)
//     Enters the kernel; a negative result is -errno.
//   long RunInChild(flags, run, argument)
//     clone(2) with these flags, among them CLONE_VM and CLONE_VFORK: the child calls run(argument)
//     on this stack and exits. The child's number, or -errno. REQUIRES: signals are blocked.
//   void Pause()
//     For loops that wait for another thread.
//   uint64_t CycleCounter()
//     The processor's own clock, for the events of an exact trace. It is read after everything in
//     front of it is done, and before anything behind it can be seen by other processors. So if
//     one processor has read it and then tells another something, that one reads a later time once
//     it knows. Whether all processors count alike is for the caller to know. Deadly where the
//     program has forbidden itself to read it (strict seccomp).
//   uint64_t EarlyCycleCounter()
//     The same, but it may be read before what is in front of it is done.
//
// Allocation-free, async-signal-safe.
#pragma once

#if defined(__x86_64__)
#include "agent/sys/arch_x86_64.h"
#else
#error "agent/sys: write the header of this architecture beside arch_x86_64.h"
#endif
