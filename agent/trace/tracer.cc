#include "agent/trace/tracer.h"

#include "agent/sys/os.h"
#include "agent/table/gauge_file.h"
#include "agent/trace/trace_settings.h"
#include "wire/gauge_format.h"

namespace heapgauge::agent {
namespace {

constexpr uint32_t kFreeBytes = sizeof(wire::TraceFree);
constexpr uint64_t kDeadEveryNs = 100'000'000;
constexpr uint32_t kAllocationBytes = sizeof(wire::TraceAllocation);

uint16_t Slack(uint64_t size, uint64_t usable) {
  const uint64_t slack = usable > size ? usable - size : 0;
  return static_cast<uint16_t>(slack < UINT16_MAX ? slack : UINT16_MAX);
}

// For one of the threads, if that was not done for so long.
bool IsTimeTo(uint64_t every_ns, std::atomic<uint64_t>* last_ns) {
  const uint64_t now = os::MonotonicNs();
  uint64_t last = last_ns->load(std::memory_order_relaxed);
  return now - last >= every_ns && last_ns->compare_exchange_strong(last, now);
}

uintptr_t FrameAddress() { return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)); }

}  // namespace

bool Tracer::Start(const TraceSettings& settings, const Record& record, uint32_t process) {
  record_ = record;
  settings_ = settings;
  wire::Header* const header = record_.file->header();
  if (IsRecorderGone(settings)) {
    Put(header->trace.gave_up, uint32_t{1});
    return false;
  }
  clock_.Use(settings.clock);
  if (!buffers_.Start(settings, header)) return false;
  record_.file->ExpectFilling();
  lanes_.Start(process);
  memo_.Start();
  record_.stacks->ExpectMany();
  tracing_.store(true, std::memory_order_release);
  return true;
}

bool Tracer::FollowsFork() const {
  return settings_.follows_fork && !buffers_.is_over() && !IsRecorderGone(settings_);
}

void Tracer::StartInChild(uint32_t process) {
  buffers_.StartInChild(record_.file->header());
  lanes_.Start(process);
}

void Tracer::End(bool gave_up) {
  if (!tracing_.exchange(false)) return;
  if (record_.life.is_ready()) buffers_.End(gave_up);
}

// False while somebody records, or may.
bool Tracer::EndIfOver() {
  if (!buffers_.is_over()) return false;
  End(false);
  return true;
}

void Tracer::PrepareForSeccomp(bool strict) {
  // What clock is left then is too coarse to order events by.
  if (strict || !clock_.needs_no_kernel()) End(false);
  if (tracing()) lanes_.Prepare();
}

// This process's own buffers are there. A forked child makes them, or goes on untraced.
inline bool Tracer::MayTrace() {
  if (record_.life.is_ready()) [[likely]]
    return true;
  return record_.make_ready(record_.self);
}

inline bool Tracer::HasRoom(TraceLane* lane, uint32_t bytes) {
  return lane->room >= bytes || GetRoom(lane);
}

// Once for some thousand events.
[[gnu::noinline]] bool Tracer::GetRoom(TraceLane* lane) {
  const bool own = lane == hg_thread.lane;
  buffers_.Close(lane);
  // What happens after the recording is not lost.
  if (EndIfOver()) return false;
  // Without room, this is not looked for again at every event.
  constexpr uint32_t kNow = 1024;
  const bool nothing_new = lane->seen_releases == ~buffers_.releases();
  if (nothing_new && ++lane->lost_since < kNow) {
    buffers_.CountLost();
    return false;
  }
  lane->lost_since = 0;
  lane->seen_releases = 0;
  record_.look_around(record_.self, IsTimeTo(wire::kTickNs, &looked_ns_));
  TraceBuffers::Patience patience;
  for (;;) {
    const uint32_t releases = buffers_.releases();  // before the word that it tells of
    if (EndIfOver()) return false;
    if (!tracing()) break;
    TraceBuffers::Find found = buffers_.TryTake(record_.file, lane);
    if (found == TraceBuffers::Find::kAllHeld ||
        (found == TraceBuffers::Find::kNone && own && IsTimeTo(kDeadEveryNs, &buried_ns_))) {
      lanes_.CloseOfTheDead(&buffers_);
      found = buffers_.TryTake(record_.file, lane);
    }
    if (found == TraceBuffers::Find::kTaken) return true;
    // Whoever interrupted this thread in the midst of an event must not wait: the recorder may be
    // waiting for that event. Nor who would wait for other threads: they may be waiting for this
    // one.
    const bool all_held = found == TraceBuffers::Find::kAllHeld;
    if ((all_held || (!own && !buffers_.drops())) && buffers_.TakeBeyond(record_.file, lane))
      return true;
    const bool waits = own && !all_held && !buffers_.drops() && !SyscallsFrozen();
    if (!waits) {
      lane->seen_releases = ~releases;
      break;
    }
    if (!buffers_.Wait(releases, &patience)) {
      if (!SyscallsFrozen()) End(true);
      break;
    }
  }
  buffers_.CountLost();
  return false;
}

inline Stack Tracer::Walk(TraceLane* lane, const Registers& caller) {
  Stack stack = lane->walker.Walk(caller);
  if (record_.modules->any_gone()) [[unlikely]] {
    // Frames that stayed where they were keep their objects in place.
    for (uint32_t i = stack.unchanged; i < stack.count; ++i) {
      if (!record_.modules->MayHaveReplaced(stack.frames[i].pc)) continue;
      record_.modules->CheckGone(record_.file);
      stack = lane->walker.Walk(caller);
      break;
    }
  }
  return stack;
}

// The number of the stack if it is found by a path that is remembered: nothing is listed then. Else
// 0, and `missed` tells whether to remember its path.
inline uint32_t Tracer::Recall(TraceLane* lane, const Registers& caller, uint16_t labels,
                               bool* missed) {
  *missed = false;
  // What is gone may have been replaced: that is for Walk to find out.
  if (!lane->paths.IsOfUse() || record_.modules->any_gone()) [[unlikely]]
    return 0;
  Path* const path = lane->walker.Recall(caller, &lane->paths);
  if (path == nullptr) [[unlikely]] {
    lane->paths.Miss();
    *missed = true;
    return 0;
  }
  lane->paths.Hit();
  const uint64_t layout = record_.modules->layout();
  if (path->number == 0 || path->layout != layout || path->labels != labels) [[unlikely]] {
    path->Know(memo_.Find(StackTable::NameOf(path->hash, layout, 0, labels)), layout, labels);
  }
  return path->number;
}

// The number of a stack that the memo does not know, 0 if it cannot be kept.
[[gnu::noinline]] uint32_t Tracer::NumberOf(const Stack& stack, uint16_t labels) {
  wire::Loss loss = wire::Loss::kNoRoom;
  uint32_t number =
      record_.stacks->Intern(record_.file, record_.modules, record_.exe, stack, &loss, 0, labels);
  // Another thread is changing the list of modules: rather be late than without a stack.
  constexpr int kTries = 20;
  for (int i = 0; number == 0 && loss == wire::Loss::kBusy && i < kTries; ++i) {
    os::Nap(100'000);
    number =
        record_.stacks->Intern(record_.file, record_.modules, record_.exe, stack, &loss, 0, labels);
  }
  // By the name that it has now: the list of modules may have changed.
  const uint64_t name = StackTable::NameOf(stack.hash, record_.modules->layout(), 0, labels);
  if (number != 0) memo_.Keep(name, number);
  return number;
}

// Enters the calling thread's lane if all is as it mostly is and so many bytes fit: nothing stands
// in the way of adding an event at once. Else nullptr.
inline TraceLane* Tracer::EnterQuickly(uintptr_t sp, uint32_t bytes) {
  if (!record_.life.is_ready() || !clock_.counts_cycles()) [[unlikely]]
    return nullptr;
  TraceLane* const lane = LanePool::EnterOwn(hg_thread, sp);
  if (lane == nullptr) [[unlikely]]
    return nullptr;
  if (lane->room >= bytes) [[likely]]
    return lane;
  LanePool::LeaveOwn(lane);
  return nullptr;
}

bool Tracer::TraceAddress(wire::TraceEventKind kind, uintptr_t address, uintptr_t sp) {
  TraceLane* lane = EnterQuickly(sp, kFreeBytes);
  if (lane == nullptr) [[unlikely]]
    return TraceAddressSlowly(kind, address, sp);
  lane->Append(wire::TraceFree{.time = 0, .what = wire::PackTraceWhat(kind, address)},
               [kind] { return TraceClockReader::ReadCycles(kind); });
  LanePool::LeaveOwn(lane);
  return true;
}

[[gnu::noinline]] bool Tracer::TraceAddressSlowly(wire::TraceEventKind kind, uintptr_t address,
                                                  uintptr_t sp) {
  if (!MayTrace()) return false;
  ThreadState& thread = hg_thread;
  TraceLane* lane = lanes_.Enter(&thread, sp, &buffers_);
  if (lane == nullptr) [[unlikely]] {
    buffers_.CountLost();
    return false;
  }
  const bool has_room = HasRoom(lane, kFreeBytes);
  if (has_room) [[likely]] {
    lane->Append(wire::TraceFree{.time = 0, .what = wire::PackTraceWhat(kind, address)},
                 [this, kind] { return clock_.Read(kind); });
  }
  lanes_.Leave(lane, &buffers_);
  return has_room;
}

void Tracer::TraceBlock(wire::TraceEventKind kind, const Block& block, const Registers& caller) {
  ThreadState& thread = hg_thread;
  TraceLane* lane = EnterQuickly(caller.sp, kAllocationBytes);
  if (lane == nullptr) [[unlikely]] {
    if (!MayTrace()) return;
    lane = lanes_.Enter(&thread, caller.sp, &buffers_);
    if (lane == nullptr) return buffers_.CountLost();
    if (!HasRoom(lane, kAllocationBytes)) return lanes_.Leave(lane, &buffers_);
  }
  __builtin_prefetch(reinterpret_cast<const char*>(block.address) - sizeof(size_t));
  const auto event_with = [kind, &block](uint32_t stack) {
    const uint64_t usable = block.room->Of(block.address, block.size);
    return wire::TraceAllocation{.time = 0,
                                 .what = wire::PackTraceWhat(kind, block.address),
                                 .size = block.size,
                                 .stack = stack,
                                 .slack = Slack(block.size, usable),
                                 .function = static_cast<uint8_t>(block.function),
                                 .alignment_log2 = block.alignment_log2};
  };
  const auto clock = [this, kind] { return clock_.Read(kind); };
  const uint16_t labels = thread.labels;
  bool missed;
  if (const uint32_t number = Recall(lane, caller, labels, &missed)) [[likely]] {
    lane->Append(event_with(number), clock);
    return lanes_.Leave(lane, &buffers_);
  }
  const Stack stack = Walk(lane, caller);
  const uint64_t layout = record_.modules->layout();
  const uint64_t name = StackTable::NameOf(stack.hash, layout, 0, labels);
  memo_.Prefetch(name);
  Path* const path = missed ? lane->walker.Keep(caller, stack, &lane->paths) : nullptr;
  wire::TraceAllocation event = event_with(0);
  // Reading the clock takes as long as the memo's answer is on its way.
  const auto know_stack = [this, name, path, layout, labels](wire::TraceAllocation* known) {
    known->stack = memo_.Find(name);
    if (path != nullptr) path->Know(known->stack, layout, labels);
    return known->stack != 0;
  };
  if (!lane->AppendIf(event, clock, know_stack)) [[unlikely]] {
    event.stack = NumberOf(stack, labels);
    lane->Append(event, clock);
  }
  lanes_.Leave(lane, &buffers_);
}

void Tracer::TraceRange(wire::TraceEventKind kind, uint64_t address, uint64_t length,
                        uint32_t stack) {
  if (!tracing() || !MayTrace()) return;
  ThreadState& thread = hg_thread;
  TraceLane* lane = lanes_.Enter(&thread, FrameAddress(), &buffers_);
  if (lane == nullptr) return buffers_.CountLost();
  if (HasRoom(lane, kAllocationBytes)) {
    lane->Append(wire::TraceAllocation{.time = 0,
                                       .what = wire::PackTraceWhat(kind, address),
                                       .size = length,
                                       .stack = stack,
                                       .slack = 0,
                                       .function = 0,
                                       .alignment_log2 = 0},
                 [this, kind] { return clock_.Read(kind); });
  }
  lanes_.Leave(lane, &buffers_);
}

}  // namespace heapgauge::agent
