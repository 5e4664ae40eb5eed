// The processor's own clock, for the events of an exact trace.
//
// Two ways to read it. CycleCounter() may be read a little late: what follows it in the program may
// have begun, but nothing of that is visible to other processors before the counter was read.
// OrderedCycleCounter() moreover is not read before everything in front of it is done. Whether all
// processors count alike is for the caller to know. Allocation-free, async-signal-safe; deadly
// where the program has forbidden itself to read it (strict seccomp).
#ifndef HEAPGAUGE_AGENT_SYS_CYCLE_COUNTER_H_
#define HEAPGAUGE_AGENT_SYS_CYCLE_COUNTER_H_

#include <cstdint>

namespace heapgauge::agent::arch {

#if defined(__x86_64__)
// Stores leave the processor in order, and not before the instructions in front of them are done:
// so a plain `rdtsc` is early enough.
inline uint64_t CycleCounter() {
  uint32_t low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
  return uint64_t{high} << 32 | low;
}
inline uint64_t OrderedCycleCounter() {
  uint32_t low, high;
  __asm__ volatile("lfence; rdtsc" : "=a"(low), "=d"(high) : : "memory");
  return uint64_t{high} << 32 | low;
}
#else
#error "agent/sys/cycle_counter.h: add this architecture's counter"
#endif

}  // namespace heapgauge::agent::arch

#endif  // HEAPGAUGE_AGENT_SYS_CYCLE_COUNTER_H_
