#include "agent/record/statistics.h"

#include "agent/table/gauge_file.h"

namespace heapgauge::agent {

void Statistics::Forget() {
  writing_.Unlock();
  wanted_.store(0);
  given_.store(0);
}

bool Statistics::InterruptsNothing(const Stack& stack) const {
  if (questions_.statistics == nullptr || !stack.complete) return false;
  for (uint32_t i = 0; i < stack.count; ++i) {
    const WalkedFrame& frame = stack.frames[i];
    if ((frame.flags & (kFrameExactPc | kFrameRestorer)) != 0) return false;
    if (questions_.is_inside != nullptr && questions_.is_inside(frame.pc)) return false;
  }
  return true;
}

void Statistics::Take(wire::Header* header, uint64_t since_start) {
  wire::AllocatorStatistics fresh;
  const uint32_t wanted = wanted_.load(std::memory_order_relaxed);
  if (!writing_.Lock()) return;
  if (wanted != given_.load(std::memory_order_relaxed)) {
    given_.store(wanted, std::memory_order_relaxed);
    if (!questions_.statistics(&fresh)) fresh = {};
    // No use of `state` as it is in the file, but that it be odd while the rest changes.
    wire::AllocatorStatistics& shown = header->statistics;
    const uint64_t state = uint64_t{wanted} * 2;
    std::atomic_ref(shown.state).store(state + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    Put(shown.time_ns, since_start);
    Put(shown.mapped_bytes, fresh.mapped_bytes);
    Put(shown.resident_bytes, fresh.resident_bytes);
    Put(shown.in_use_bytes, fresh.in_use_bytes);
    Put(shown.free_bytes, fresh.free_bytes);
    Put(shown.cached_bytes, fresh.cached_bytes);
    Put(shown.metadata_bytes, fresh.metadata_bytes);
    Put(shown.arenas, fresh.arenas);
    Put(shown.requests, wanted);
    Put(shown.mask, fresh.mask);
    std::atomic_ref(shown.state).store(state + 2, std::memory_order_release);
  }
  writing_.Unlock();
}

}  // namespace heapgauge::agent
