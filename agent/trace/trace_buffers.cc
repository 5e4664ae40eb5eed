#include "agent/trace/trace_buffers.h"

#include <linux/futex.h>
#include <time.h>

#include "agent/sys/os.h"
#include "agent/sys/os_memory.h"
#include "agent/sys/syscall.h"
#include "agent/table/atomic_file.h"

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

}  // namespace heapgauge::agent
