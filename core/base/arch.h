// What the readers need of the processor. Each architecture has a header with these names:
//
//   uint64_t arch::CycleCounter()
//     The clock that wire::TraceClock::kCycleCounter means.
//   arch::kCycleClockSource
//     What the kernel calls that clock where all processors count alike.
//   HG_COUNTS_BITS, bool arch::HasBitCount()
//     A function with this attribute may count the bits of a word (__builtin_popcountll) by one
//     instruction, and must not be called where there is none.
//   bool arch::HasFusedMultiply()
//     Whether the processor multiplies and adds with one rounding; Go's programs do so then.
#pragma once

#if defined(__x86_64__)
#include "core/base/arch_x86_64.h"
#else
#error "core/base: write the header of this architecture beside arch_x86_64.h"
#endif
