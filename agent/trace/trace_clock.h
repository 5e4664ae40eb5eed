// The clock of a trace's events.
//
// For a plain allocation it is read without waiting for what came before: to wait takes as long
// again, and keeps the processor from what it could do ahead. So the time may be that of a moment
// just before the thread knew that another one had made room, and the recorder puts that right
// (core/trace/record/early_births.h). Were frees as early, nobody could tell which of two ended a
// block that goes to and fro; so for all other events it is read in order. Where one thread alone
// has ever had events there is no other whose events could come between its own, and nothing to
// wait for. A second thread has its token before its first event. Whatever it frees or hands over
// is known to the first one by way of the program or its allocator; so that one knows of the token,
// too, when it reads the clock for what it was given.
//
// Allocation-free, async-signal-safe.
#pragma once

#include <cstdint>

#include "agent/sys/arch.h"
#include "agent/sys/os.h"
#include "agent/sys/thread_state.h"
#include "wire/trace_buffer.h"

namespace heapgauge::agent {

class TraceClockReader {
 public:
  void Use(wire::TraceClock clock) {
    cycles_ = clock == wire::TraceClock::kCycleCounter;
    needs_no_kernel_ = cycles_ || os::ClockNeedsNoKernel();
  }

  bool counts_cycles() const { return cycles_; }

  // After all that came before, and before whatever comes next can be seen by another processor.
  uint64_t Read() const { return cycles_ ? ReadCycles() : os::FineMonotonicNs(); }
  // The same for an event of this kind, some of which need not wait.
  uint64_t Read(wire::TraceEventKind kind) const {
    return cycles_ ? ReadCycles(kind) : os::FineMonotonicNs();
  }
  // REQUIRES: counts_cycles().
  static uint64_t ReadCycles(wire::TraceEventKind kind) {
    return wire::MayBeEarly(kind) ? arch::EarlyCycleCounter() : ReadCycles();
  }

  // Can be read after system calls were frozen.
  bool needs_no_kernel() const { return needs_no_kernel_; }

 private:
  static uint64_t ReadCycles() {
    return thread_tokens.load(std::memory_order_relaxed) <= 1 ? arch::EarlyCycleCounter()
                                                              : arch::CycleCounter();
  }

  bool cycles_ = false;
  bool needs_no_kernel_ = false;
};

}  // namespace heapgauge::agent
