// Gives each thread that traces its lane (trace_lane.h), and takes over the lanes of threads that
// are no more.
//
// A thread finds its lane through its ThreadState and marks it busy while it is at it, with its
// stack pointer: so a signal handler that comes in between notices, and uses the thread's next one
// (`inner`), which is made for it. If a handler jumped out, the mark is left; the thread is then
// found further up its stack, and goes on with the lane, or with the next one where that is not
// certain (StackMemory::IsBackFrom). A lane belongs to its thread as long as
// the kernel knows that: this is asked, a few lanes at a time, when a new thread needs one. The
// recorder's word for it would not do: two threads on one lane would ruin the walker. So nothing
// has to happen when a thread ends.
//
// A vfork child shares everything with the thread that made it, its ThreadState too, and writes as
// that one does; if that has no lane, with one that is given back at once.
//
// Lock-free, allocation-free (maps memory for new lanes), async-signal-safe, zero-initialised.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/sys/thread_state.h"
#include "agent/trace/trace_buffers.h"
#include "agent/trace/trace_lane.h"

namespace heapgauge::agent {

class LanePool {
 public:
  // Also in a forked child, where no lane belongs to anybody.
  void Start(uint32_t process);

  // The lane to use for one call, whose stack pointer is `sp`; nullptr if none can be had. To be
  // followed by Leave. Nothing that is in a lane may be looked at before: up to then a signal
  // handler may use it.
  TraceLane* Enter(ThreadState* thread, uintptr_t sp, TraceBuffers* buffers) {
    TraceLane* const lane = EnterOwn(*thread, sp);
    return lane != nullptr ? lane : EnterOther(thread, sp, buffers);
  }
  // The same if the thread has a lane that is idle, as it mostly has, else nullptr.
  static TraceLane* EnterOwn(const ThreadState& thread, uintptr_t sp) {
    TraceLane* const lane = thread.lane;
    if (lane == nullptr || lane->busy_sp != 0 ||
        lane->owner.load(std::memory_order_relaxed) != thread.token) [[unlikely]] {
      return nullptr;
    }
    lane->busy_sp = sp;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return lane;
  }
  static void LeaveOwn(TraceLane* lane) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    lane->busy_sp = 0;
  }
  void Leave(TraceLane* lane, TraceBuffers* buffers) {
    LeaveOwn(lane);
    if (lane->once != 0) [[unlikely]]
      GiveBack(lane, buffers);
  }

  // Closes the buffers of threads that are no more.
  void CloseOfTheDead(TraceBuffers* buffers);

  // Makes some lanes ahead of need, for a program that will soon allow no system calls.
  void Prepare();

  size_t private_bytes() const {
    return count_.load(std::memory_order_relaxed) * sizeof(TraceLane);
  }
  static constexpr uint32_t kMaxLanes = TraceBuffers::kMaxSlots;

 private:
  // Owners that are no threads.
  static constexpr uint32_t kNobody = 0;
  static constexpr uint32_t kChanging = ~uint32_t{0};

  static bool IsBack(const TraceLane& lane, uintptr_t sp);
  TraceLane* EnterOther(ThreadState* thread, uintptr_t sp, TraceBuffers* buffers);
  TraceLane* EnterInner(TraceLane* lane, uintptr_t sp, TraceBuffers* buffers);
  TraceLane* Take(uint32_t token, uintptr_t sp, uint32_t probe, TraceBuffers* buffers);
  TraceLane* TakeIdle();
  TraceLane* TakeOfTheDead(TraceBuffers* buffers);
  TraceLane* Make();
  bool ClaimIfDead(TraceLane* lane);
  void GiveBack(TraceLane* lane, TraceBuffers* buffers);
  TraceLane* At(uint32_t index) const { return lanes_[index].load(std::memory_order_acquire); }

  uint32_t process_ = 0;
  std::atomic<uint32_t> count_;
  std::atomic<uint32_t> next_;  // lane to look at next
  std::atomic<TraceLane*> lanes_[kMaxLanes];
};

}  // namespace heapgauge::agent
