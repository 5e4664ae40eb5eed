#include "agent/record/watch.h"

namespace heapgauge::agent {

void Watch::Set(wire::WatchCallback* callback, const wire::Marks& marks) {
  armed_.store(false, std::memory_order_seq_cst);
  callback_.store(callback, std::memory_order_relaxed);
  allocated_mark_.store(marks.allocated, std::memory_order_relaxed);
  freed_mark_.store(marks.freed, std::memory_order_relaxed);
  live_mark_.store(marks.live, std::memory_order_relaxed);
  armed_.store(callback != nullptr, std::memory_order_release);
}

wire::Marks Watch::Totals() const {
  const uint64_t allocated = allocated_.load(std::memory_order_relaxed);
  const uint64_t freed = freed_.load(std::memory_order_relaxed);
  // What a forked child frees of its parent's was not allocated here.
  return {allocated, freed, allocated > freed ? allocated - freed : 0};
}

void Watch::Forget() {
  allocated_.store(0, std::memory_order_relaxed);
  freed_.store(0, std::memory_order_relaxed);
}

void Watch::Check() {
  const wire::Marks now = Totals();
  if (now.allocated < allocated_mark_.load(std::memory_order_relaxed) &&
      now.freed < freed_mark_.load(std::memory_order_relaxed) &&
      now.live < live_mark_.load(std::memory_order_relaxed)) {
    return;
  }
  wire::WatchCallback* const callback = callback_.load(std::memory_order_relaxed);
  if (armed_.exchange(false, std::memory_order_acq_rel) && callback != nullptr) callback();
}

}  // namespace heapgauge::agent
