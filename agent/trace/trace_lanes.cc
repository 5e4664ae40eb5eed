#include "agent/trace/trace_lanes.h"

#include <linux/futex.h>
#include <time.h>

#include "agent/sys/os.h"
#include "agent/sys/os_memory.h"
#include "agent/sys/thread_state.h"
#include "agent/table/gauge_file.h"
#include "agent/unwind/stack_memory.h"

namespace heapgauge::agent {
namespace {

constexpr uint64_t kNapNs = 100'000'000;

uint32_t Released(wire::TraceBufferHeader* buffer) {
  return std::atomic_ref(buffer->released).load(std::memory_order_acquire);
}

}  // namespace

bool TraceBuffers::Start(const TraceSettings& settings, wire::Header* header) {
  settings_ = settings;
  slots_ = static_cast<Slot*>(os::MapPrivate(kMaxSlots * sizeof(Slot)));
  if (slots_ == nullptr) return false;
  ShowSettings(header);
  return true;
}

void TraceBuffers::StartInChild(wire::Header* header) {
  const uint32_t count = count_.load();
  for (uint32_t i = 0; i < count && i < kMaxSlots; ++i) {
    if (auto* buffer = slots_[i].buffer.load()) os::Unmap(buffer, wire::kSegmentBytes);
    slots_[i].buffer.store(nullptr);
    slots_[i].held.store(0);
    slots_[i].round.store(0);
  }
  count_.store(0);
  ShowSettings(header);
}

void TraceBuffers::ShowSettings(wire::Header* header) {
  control_ = &header->trace;
  over_ = &header->trace_over;
  control_->clock = static_cast<uint32_t>(settings_.clock);
  control_->max_buffers = settings_.max_buffers();
  control_->drops = settings_.drops;
  header->leaks.wants_exit_check = settings_.checks_leaks;
  Put(control_->tracing, uint32_t{1});
}

void TraceBuffers::End(bool gave_up) {
  if (gave_up) Put(control().gave_up, uint32_t{1});
  Put(control().tracing, uint32_t{0});
}

// REQUIRES: the caller holds the slot, and the round before was read.
void TraceBuffers::Lend(uint32_t index, TraceLane* lane) {
  Slot& slot = slots_[index];
  wire::TraceBufferHeader* buffer = slot.buffer.load(std::memory_order_relaxed);
  const uint32_t last = slot.round.load(std::memory_order_relaxed);
  const uint32_t round = last + 1 == 0 ? 1 : last + 1;
  slot.round.store(round, std::memory_order_relaxed);
  Put(buffer->position, uint32_t{sizeof *buffer});
  Put(buffer->thread, lane->thread);
  Put(buffer->name[0], lane->name[0]);
  Put(buffer->name[1], lane->name[1]);
  Put(buffer->token, uint64_t{lane->owner.load(std::memory_order_relaxed)});
  std::atomic_ref(buffer->round).store(round, std::memory_order_release);
  lane->buffer = buffer;
  lane->slot = index;
  lane->round = round;
  std::atomic_signal_fence(std::memory_order_release);
  lane->room = wire::kSegmentBytes - uint32_t{sizeof *buffer};
}

bool TraceBuffers::Make(GaugeFile* file, TraceLane* lane, uint32_t most) {
  uint32_t index = count_.load(std::memory_order_relaxed);
  do {
    if (index >= most) return false;
  } while (!count_.compare_exchange_weak(index, index + 1, std::memory_order_relaxed));
  Slot& slot = slots_[index];
  slot.held.store(1, std::memory_order_relaxed);
  char* segment = file->MakeSegment(wire::SegmentKind::kTrace, index);
  if (segment == nullptr) {
    uint32_t mine = index + 1;  // for another try, if no other thread went on behind it
    count_.compare_exchange_strong(mine, index);
    return false;
  }
  slot.buffer.store(reinterpret_cast<wire::TraceBufferHeader*>(segment), std::memory_order_release);
  RaiseTo(control().max_buffers, index + 1);
  if (lane->first_slot == 0) lane->first_slot = index;
  Lend(index, lane);
  return true;
}

TraceBuffers::Find TraceBuffers::TryTake(GaugeFile* file, TraceLane* lane) {
  const uint32_t made = count_.load(std::memory_order_acquire);
  const uint32_t count = made < kMaxSlots ? made : kMaxSlots;
  const uint32_t first = lane->first_slot < count ? lane->first_slot : 0;
  bool all_held = true;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t index = first + i < count ? first + i : first + i - count;
    Slot& slot = slots_[index];
    wire::TraceBufferHeader* buffer = slot.buffer.load(std::memory_order_acquire);
    if (buffer == nullptr || slot.held.load(std::memory_order_relaxed) != 0) continue;
    all_held = false;
    if (Released(buffer) != slot.round.load(std::memory_order_relaxed)) continue;
    uint32_t free = 0;
    if (!slot.held.compare_exchange_strong(free, 1, std::memory_order_acquire)) continue;
    if (Released(buffer) == slot.round.load(std::memory_order_relaxed)) {
      Lend(index, lane);
      return Find::kTaken;
    }
    slot.held.store(0, std::memory_order_release);
  }
  if (Make(file, lane, settings_.max_buffers())) return Find::kTaken;
  return all_held ? Find::kAllHeld : Find::kNone;
}

bool TraceBuffers::TakeBeyond(GaugeFile* file, TraceLane* lane) {
  return Make(file, lane, kMaxSlots);
}

void TraceBuffers::Close(TraceLane* lane) {
  wire::TraceBufferHeader* buffer = lane->buffer;
  if (buffer == nullptr) return;
  const uint32_t room = lane->room;
  lane->room = 0;
  lane->buffer = nullptr;
  // As it should be already, unless a handler jumped out of an event half-way.
  if (room <= wire::kSegmentBytes) Put(buffer->position, wire::kSegmentBytes - room);
  std::atomic_ref(buffer->closed).store(lane->round, std::memory_order_release);
  slots_[lane->slot].held.store(0, std::memory_order_release);
}

bool TraceBuffers::Wait(uint32_t seen, Patience* patience) {
  const uint32_t beat = std::atomic_ref(control().beat).load(std::memory_order_relaxed);
  const uint64_t signs = uint64_t{beat} << 32 | releases();
  if (signs != patience->signs) *patience = {signs, 0};
  if (patience->used_ns >= settings_.patience_ns || SyscallsFrozen()) return false;
  const uint64_t left = settings_.patience_ns - patience->used_ns;
  const uint64_t nap = left < kNapNs ? left : kNapNs;
  const timespec time{0, static_cast<long>(nap)};
  const uint64_t start = os::MonotonicNs();
  std::atomic_ref(control().waiting).fetch_add(1);
  const long result = Syscall(SYS_futex, &control().releases, FUTEX_WAIT, seen, &time, nullptr, 0);
  std::atomic_ref(control().waiting).fetch_sub(1);
  const uint64_t waited = os::MonotonicNs() - start;
  AddTo(control().waits, 1);
  AddTo(control().waited_ns, waited);
  // Not all of it if this process itself was stopped meanwhile.
  patience->used_ns += waited < 2 * nap ? waited : nap;
  return result != -ENOSYS;
}

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
