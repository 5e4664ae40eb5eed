// The clock of a trace's events. Allocation-free, async-signal-safe.
#ifndef HEAPGAUGE_AGENT_TRACE_TRACE_CLOCK_H_
#define HEAPGAUGE_AGENT_TRACE_TRACE_CLOCK_H_

#include <cstdint>

#include "agent/sys/arch.h"
#include "agent/sys/os.h"
#include "wire/trace_buffer.h"

namespace heapgauge::agent {

class TraceClock {
 public:
  void Use(wire::TraceClock clock) {
    cycles_ = clock == wire::TraceClock::kCycleCounter;
    needs_no_kernel_ = cycles_ || os::ClockNeedsNoKernel();
  }

  bool counts_cycles() const { return cycles_; }

  // After all that came before, and before whatever comes next can be seen by another processor.
  uint64_t Read() const { return cycles_ ? arch::CycleCounter() : os::FineMonotonicNs(); }

  // Can be read after system calls were frozen.
  bool needs_no_kernel() const { return needs_no_kernel_; }

 private:
  bool cycles_ = false;
  bool needs_no_kernel_ = false;
};

}  // namespace heapgauge::agent

#endif  // HEAPGAUGE_AGENT_TRACE_TRACE_CLOCK_H_
