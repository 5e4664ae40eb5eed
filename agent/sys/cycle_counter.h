// The processor's own clock, for the events of an exact trace.
//
// It is read after everything in front of it is done, and before anything behind it can be seen by
// other processors. So if one processor has read it and then tells another something, that one
// reads a later time once it knows. Whether all processors count alike is for the caller to know.
// Allocation-free, async-signal-safe; deadly where the program has forbidden itself to read it
// (strict seccomp).
#ifndef HEAPGAUGE_AGENT_SYS_CYCLE_COUNTER_H_
#define HEAPGAUGE_AGENT_SYS_CYCLE_COUNTER_H_

#include <cstdint>

namespace heapgauge::agent::arch {

#if defined(__x86_64__)
// Without the fence it would not wait for loads: whoever frees a block that another thread has just
// handed over could read it before that thread did. Stores wait for it by themselves.
inline uint64_t CycleCounter() {
  uint32_t low, high;
  __asm__ volatile("lfence; rdtsc" : "=a"(low), "=d"(high) : : "memory");
  return uint64_t{high} << 32 | low;
}
#else
#error "agent/sys/cycle_counter.h: add this architecture's counter"
#endif

}  // namespace heapgauge::agent::arch

#endif  // HEAPGAUGE_AGENT_SYS_CYCLE_COUNTER_H_
