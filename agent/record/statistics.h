// Asks the program's allocator for its own figures when somebody outside has requested them, and
// shows the answer in the gauge file.
//
// Any thread, at a sample. The allocator is asked by one thread at a time, and only where it is not
// interrupted itself: it would wait for its own locks. Allocation-free on our side;
// zero-initialised.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/sys/try_lock.h"
#include "agent/unwind/walker.h"
#include "wire/gauge_format.h"

namespace heapgauge::agent {

// How to ask the allocator, and whether an address lies in it.
struct AllocatorQuestions {
  bool (*statistics)(wire::AllocatorStatistics*) = nullptr;
  bool (*is_inside)(uintptr_t pc) = nullptr;
};

class Statistics {
 public:
  // Before the start.
  void SetQuestions(const AllocatorQuestions& questions) { questions_ = questions; }
  // The number of requests there have been.
  void Want(uint32_t requests) { wanted_.store(requests, std::memory_order_relaxed); }
  // In a forked child.
  void Forget();

  // A request is open, and this call of the program may answer it: no signal handler, which may
  // have interrupted the allocator, and not from within the allocator.
  bool MayAsk(const Stack& stack) const {
    return wanted_.load(std::memory_order_relaxed) != given_.load(std::memory_order_relaxed) &&
           InterruptsNothing(stack);
  }
  // Answers the request in the header, unless another thread does.
  void Take(wire::Header* header, uint64_t since_start);

 private:
  bool InterruptsNothing(const Stack& stack) const;

  TryLock writing_;
  AllocatorQuestions questions_;
  std::atomic<uint32_t> wanted_;  // number of the request
  std::atomic<uint32_t> given_;
};

}  // namespace heapgauge::agent
