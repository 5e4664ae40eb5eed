// What one thread writes its events with: the buffer that is lent to it, how far that is filled,
// the walker that remembers its stack, and the paths by which it came there. A thread has one at a
// time and keeps it.
//
// Private memory: what is in the file is written, never read back (but for `released`). Only the
// thread itself touches its lane, and its signal handlers: these find it busy and use another. When
// a thread is no more its lane passes to another (lane_pool.h). Zeroed memory is a valid lane.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/unwind/walker.h"
#include "wire/gauge_format.h"

namespace heapgauge::agent {

struct alignas(64) TraceLane {
  std::atomic<uint32_t> owner;      // token of its thread, 0 nobody's
  uint32_t room;                    // bytes left in the buffer; 0 without one
  uintptr_t busy_sp;                // 0 idle, else stack pointer of the call that is at it
  wire::TraceBufferHeader* buffer;  // of `round`, in the file; nullptr none
  uint32_t slot;                    // number of the buffer
  uint32_t round;
  uint32_t first_slot;     // where to look for a free one
  uint32_t seen_releases;  // TraceControl::releases when there was none, inverted; 0: there was
  uint32_t lost_since;     // events since then
  uint32_t thread;         // kernel id
  uint64_t name[2];        // of the thread when the lane became its own; 0 unknown
  uint32_t once;           // 1: given back after one call
  TraceLane* inner;        // of the same thread, for handlers that interrupt it in this one
  uint32_t probe;          // the same if other threads may ask whether it is still there, else 0
  PathMemo paths;
  Walker walker;

  // Adds one event; all but the time is set, which `clock` tells. REQUIRES: room. A signal handler
  // may get in between any two steps, and may never come back: then the event is not there, or it
  // is there as a whole.
  template <typename Event, typename Clock>
  void Append(const Event& event, const Clock& clock) {
    AppendIf(event, clock, [](Event*) { return true; });
  }
  // The same with one more look at the event after the clock was read; if `complete` says no, there
  // is none.
  template <typename Event, typename Clock, typename Complete>
  bool AppendIf(Event event, const Clock& clock, const Complete& complete) {
    const uint32_t position = wire::kSegmentBytes - room;
    auto* place = reinterpret_cast<Event*>(reinterpret_cast<char*>(buffer) + position);
    std::atomic_ref<uint32_t> shown(buffer->position);
    shown.store(position | 1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    event.time = clock();
    if (!complete(&event)) [[unlikely]] {
      shown.store(position, std::memory_order_release);
      return false;
    }
    *place = event;
    // Before it counts: who jumps away after that leaves it behind as it is.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    // Not less by so much: whatever happened to it meanwhile, it is no more than there is.
    const uint32_t end = position + static_cast<uint32_t>(sizeof event);
    room = wire::kSegmentBytes - end;
    shown.store(end, std::memory_order_release);
    return true;
  }
};

}  // namespace heapgauge::agent
