// Exact tracing: every call of the program becomes an event in the buffer of its thread
// (wire/trace_buffer.h), with its call stack (Tracer) and its time (TraceClockReader). Nothing else
// is kept: what a block became is for the recorder outside to find out.
//
// Threads: all of them, also signal handlers in the middle of anything here. Nothing allocates,
// errno is left alone. A thread waits for nobody but the recorder, and only where all buffers are
// full (trace_lanes.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/sys/arch.h"
#include "agent/sys/os.h"
#include "agent/sys/os_memory.h"
#include "agent/sys/thread_state.h"
#include "agent/table/gauge_file.h"
#include "agent/table/module_table.h"
#include "agent/table/stack_table.h"
#include "agent/trace/block_room.h"
#include "agent/trace/stack_memo.h"
#include "agent/trace/trace_lanes.h"
#include "agent/trace/trace_settings.h"
#include "agent/unwind/walker.h"
#include "wire/trace_buffer.h"

namespace heapgauge::agent {

// The clock of a trace's events.
//
// For a plain allocation it is read without a fence: a fence doubles the cost and stops the
// processor from working ahead. So the time may be just before the thread knew that another thread
// had freed the memory; the recorder corrects that (core/trace/record/block_matcher.h). All other
// events are read in order: with early frees nobody could tell which of two threads ended a block
// that both hand back and forth. While only one thread has had events, it needs no fence. A second
// thread takes its token before its first event. The first one learns of what the second frees or
// hands over only through the program or its allocator, and so sees the token before it reads the
// clock for it.
class TraceClockReader {
 public:
  void Use(wire::TraceClock clock) {
    cycles_ = clock == wire::TraceClock::kCycleCounter;
    needs_no_kernel_ = cycles_ || os::ClockNeedsNoKernel();
  }

  bool counts_cycles() const { return cycles_; }

  // In order: after all earlier instructions, and before other processors can see later ones.
  uint64_t Read() const { return cycles_ ? ReadCycles() : os::FineMonotonicNs(); }
  // The same for an event of this kind; some kinds are read without a fence.
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

class Tracer {
 public:
  // The process's record, of which the trace is a part. All of it must outlive the tracer.
  struct Record {
    ProcessLife life;
    GaugeFile* file = nullptr;
    ModuleTable* modules = nullptr;
    StackTable* stacks = nullptr;
    const char* exe = nullptr;
    void* self = nullptr;  // what these get:
    // Makes the record of a forked child, if it is to have one. False if there is none.
    bool (*make_ready)(void* self) = nullptr;
    // Called once for some thousand events; `due` says that a tick has passed.
    void (*look_around)(void* self, bool due) = nullptr;
  };
  // False if there is no memory, or nobody to record. `process` is whose record it is.
  bool Start(const TraceSettings& settings, const Record& record, uint32_t process);

  // A forked child of a traced process is to be traced as well.
  bool FollowsFork() const;
  // In such a child, once the record is its own.
  void StartInChild(uint32_t process);
  // In one that has no record.
  void GoUntraced() { tracing_.store(false); }

  // False once it is over: the recorder has stopped, nobody emptied the buffers, or this is a
  // forked child that is not to be traced. For good.
  bool tracing() const { return tracing_.load(std::memory_order_relaxed); }
  void End(bool gave_up);
  // Somebody who can look for leaks records.
  bool CanAskAboutLeaks() { return tracing() && settings_.checks_leaks && !EndIfOver(); }
  uint32_t recorder_pid() const { return settings_.recorder_pid; }
  // The moment, on the clock of events.
  uint64_t Now() const { return clock_.Read(); }

  // An event that is a block alone; `sp` is a stack pointer of the call. False if it is lost.
  bool TraceAddress(wire::TraceEventKind kind, uintptr_t address, uintptr_t sp);
  // A block that the program will be given, with the stack that asks for it.
  struct Block {
    uintptr_t address;
    uint64_t size;    // requested
    BlockRoom* room;  // tells how large it is; asked late: by then the head is in the cache
    wire::AllocationFunction function;
    uint8_t alignment_log2;
  };
  void TraceBlock(wire::TraceEventKind kind, const Block& block, const Registers& caller);
  // A mapping, or what is taken away of it.
  void TraceRange(wire::TraceEventKind kind, uint64_t address, uint64_t length, uint32_t stack);

  // Before system calls may become deadly, and if `strict` also the processor's clock.
  void PrepareForSeccomp(bool strict);

  size_t private_bytes() const {
    return buffers_.private_bytes() + lanes_.private_bytes() + memo_.private_bytes();
  }

 private:
  bool MayTrace();
  TraceLane* EnterQuickly(uintptr_t sp, uint32_t bytes);
  bool TraceAddressSlowly(wire::TraceEventKind kind, uintptr_t address, uintptr_t sp);
  bool HasRoom(TraceLane* lane, uint32_t bytes);
  bool GetRoom(TraceLane* lane);
  bool EndIfOver();
  Stack Walk(TraceLane* lane, const Registers& caller);
  uint32_t Recall(TraceLane* lane, const Registers& caller, uint16_t labels, bool* missed);
  uint32_t NumberOf(const Stack& stack, uint16_t labels);

  Record record_;
  TraceSettings settings_;
  TraceClockReader clock_;
  std::atomic<bool> tracing_;
  std::atomic<uint64_t> looked_ns_;  // when somebody last looked around
  std::atomic<uint64_t> buried_ns_;  // and when for threads that are no more
  TraceBuffers buffers_;
  LanePool lanes_;
  StackMemo memo_;
};

}  // namespace heapgauge::agent
