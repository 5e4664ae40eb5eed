#include "agent/trace/lane_pool.h"

#include "agent/sys/os.h"
#include "agent/sys/os_memory.h"
#include "agent/sys/syscall.h"
#include "agent/sys/thread_state.h"
#include "agent/unwind/stack_memory.h"

namespace heapgauge::agent {

void LanePool::Start(uint32_t process) {
  process_ = process;
  for (uint32_t i = 0; i < count_.load() && i < kMaxLanes; ++i) {
    TraceLane* lane = At(i);
    if (lane == nullptr) continue;
    lane->owner.store(kNobody);
    lane->busy_sp = 0;
    lane->buffer = nullptr;
    lane->room = 0;
    lane->inner = nullptr;
    lane->first_slot = 0;
    lane->seen_releases = 0;
    lane->lost_since = 0;
    lane->walker.Forget();
  }
}

// Leaves it to the caller, as kChanging, if its thread is no more.
bool LanePool::ClaimIfDead(TraceLane* lane) {
  uint32_t owner = lane->owner.load(std::memory_order_acquire);
  if (owner == kNobody || owner == kChanging) return false;
  const uint32_t probe = std::atomic_ref(lane->probe).load(std::memory_order_acquire);
  if (probe == 0) return false;
  constexpr int kNoSignal = 0;
  if (Syscall(SYS_tgkill, process_, probe, kNoSignal) != -ESRCH) return false;
  return lane->owner.compare_exchange_strong(owner, kChanging);
}

void LanePool::CloseOfTheDead(TraceBuffers* buffers) {
  const uint32_t count = count_.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count && i < kMaxLanes; ++i) {
    TraceLane* lane = At(i);
    if (lane == nullptr || !ClaimIfDead(lane)) continue;
    GiveBack(lane, buffers);
  }
}

void LanePool::GiveBack(TraceLane* lane, TraceBuffers* buffers) {
  buffers->Close(lane);
  lane->busy_sp = 0;
  lane->owner.store(kNobody, std::memory_order_release);
}

TraceLane* LanePool::TakeIdle() {
  const uint32_t count = count_.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count && i < kMaxLanes; ++i) {
    TraceLane* lane = At(i);
    if (lane == nullptr || lane->owner.load(std::memory_order_relaxed) != kNobody) continue;
    uint32_t nobody = kNobody;
    if (lane->owner.compare_exchange_strong(nobody, kChanging)) return lane;
  }
  return nullptr;
}

TraceLane* LanePool::TakeOfTheDead(TraceBuffers* buffers) {
  constexpr uint32_t kAtATime = 8;
  const uint32_t made = count_.load(std::memory_order_acquire);
  const uint32_t count = made < kMaxLanes ? made : kMaxLanes;
  for (uint32_t i = 0; i < kAtATime && i < count; ++i) {
    TraceLane* lane = At(next_.fetch_add(1, std::memory_order_relaxed) % count);
    if (lane == nullptr || !ClaimIfDead(lane)) continue;
    buffers->Close(lane);
    return lane;
  }
  return nullptr;
}

TraceLane* LanePool::Make() {
  uint32_t index = count_.load(std::memory_order_relaxed);
  do {
    if (index >= kMaxLanes) return nullptr;
  } while (!count_.compare_exchange_weak(index, index + 1, std::memory_order_relaxed));
  auto* lane = static_cast<TraceLane*>(os::MapPrivate(sizeof(TraceLane)));
  if (lane == nullptr) {
    uint32_t mine = index + 1;  // for another try, if no other thread went on behind it
    count_.compare_exchange_strong(mine, index);
    return nullptr;
  }
  lane->owner.store(kChanging, std::memory_order_relaxed);
  lanes_[index].store(lane, std::memory_order_release);
  return lane;
}

// `probe`: kernel id of the thread, or 0 if the lane is given back after one call.
TraceLane* LanePool::Take(uint32_t token, uintptr_t sp, uint32_t probe, TraceBuffers* buffers) {
  TraceLane* lane = TakeIdle();
  if (lane == nullptr) lane = TakeOfTheDead(buffers);
  if (lane == nullptr) lane = Make();
  if (lane == nullptr) return nullptr;
  buffers->Close(lane);
  lane->walker.Forget();
  lane->inner = nullptr;
  lane->once = 0;
  lane->thread = os::ThreadId();
  os::ThreadName(lane->name);
  std::atomic_ref(lane->probe).store(probe, std::memory_order_release);
  lane->busy_sp = sp;
  lane->owner.store(token, std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return lane;
}

// Is the thread back from the call that left its mark, so that nobody is at the lane?
bool LanePool::IsBack(const TraceLane& lane, uintptr_t sp) {
  return lane.walker.memory().IsBackFrom(lane.busy_sp, sp);
}

// In a handler that came while the thread is at `lane`.
TraceLane* LanePool::EnterInner(TraceLane* lane, uintptr_t sp, TraceBuffers* buffers) {
  const uint32_t token = lane->owner.load(std::memory_order_relaxed);
  for (;;) {
    TraceLane* inner = lane->inner;
    if (inner == nullptr) break;
    if (inner->busy_sp == 0 || IsBack(*inner, sp)) {
      inner->busy_sp = sp;
      std::atomic_signal_fence(std::memory_order_seq_cst);
      return inner;
    }
    lane = inner;
  }
  TraceLane* fresh = Take(token, sp, lane->probe, buffers);
  if (fresh == nullptr) return nullptr;
  // Unless a handler has put one there meanwhile.
  if (lane->inner == nullptr) {
    lane->inner = fresh;
  } else {
    fresh->once = 1;
  }
  return fresh;
}

TraceLane* LanePool::EnterOther(ThreadState* thread, uintptr_t sp, TraceBuffers* buffers) {
  TraceLane* own = thread->lane;
  if (own != nullptr && own->owner.load(std::memory_order_relaxed) == thread->token) {
    if (!IsBack(*own, sp)) return EnterInner(own, sp, buffers);
    own->busy_sp = sp;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return own;
  }
  const uint32_t token = TokenOf(thread);
  // A vfork child is no thread of this process, and its ThreadState is not its own.
  const bool own_thread = SyscallsFrozen() || os::ProcessId() == process_;
  TraceLane* lane = Take(token, sp, own_thread ? os::ThreadId() : 0, buffers);
  if (lane == nullptr) return nullptr;
  // Unless a handler has got one meanwhile.
  own = thread->lane;
  if (own_thread && (own == nullptr || own->owner.load(std::memory_order_relaxed) != token)) {
    thread->lane = lane;
  } else {
    lane->once = 1;
  }
  return lane;
}

void LanePool::Prepare() {
  constexpr uint32_t kWanted = 16;
  for (uint32_t i = 0; i < kWanted; ++i) {
    TraceLane* lane = Make();
    if (lane == nullptr) return;
    lane->owner.store(kNobody, std::memory_order_release);
  }
}

}  // namespace heapgauge::agent
