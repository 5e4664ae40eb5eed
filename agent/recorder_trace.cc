// Exact tracing: every call of the program becomes an event in the buffer of its thread. Nothing
// else is kept; live table, sampler and counters are not touched.
#include "agent/recorder.h"
#include "agent/sys/os.h"
#include "agent/sys/syscall.h"
#include "agent/table/atomic_file.h"
#include "agent/trace/recorder_life.h"

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

bool Recorder::StartTracing(const TraceSettings& settings) {
  trace_settings_ = settings;
  if (IsRecorderGone(settings)) {
    Put(file_.header()->trace.gave_up, uint32_t{1});
    return false;
  }
  trace_clock_.Use(settings.clock);
  if (!buffers_.Start(settings, file_.header())) return false;
  file_.ExpectFilling();
  lanes_.Start(process_);
  memo_.Start();
  stacks_.ExpectMany();
  tracing_.store(true, std::memory_order_release);
  return true;
}

void Recorder::EndTracing(bool gave_up) {
  if (!tracing_.exchange(false)) return;
  if (OwnFile() != nullptr) buffers_.End(gave_up);
}

// False while somebody records, or may.
bool Recorder::EndIfOver() {
  if (!buffers_.is_over()) return false;
  EndTracing(false);
  return true;
}

wire::Header* Recorder::LeakQuestions() {
  GaugeFile* const file = OwnFile();
  if (file == nullptr || !tracing() || !trace_settings_.checks_leaks) return nullptr;
  if (EndIfOver()) return nullptr;
  if (os::ProcessId() != process_) return nullptr;
  if (ranges_published_.load(std::memory_order_relaxed) != os::PrivateRangesVersion()) {
    PublishMemory();  // whoever looks for pointers must know what is ours
  }
  return file->header();
}

void Recorder::WantNoExitCheck() {
  if (GaugeFile* const file = OwnFile()) Put(file->header()->leaks.wants_exit_check, uint32_t{0});
}

// This process's own buffers are there. A forked child makes them, or goes on untraced.
inline bool Recorder::MayTrace() {
  if (process_state_->load(std::memory_order_acquire) ==
      static_cast<uint32_t>(ProcessState::kReady)) [[likely]] {
    return true;
  }
  return Ready();
}

inline bool Recorder::HasRoom(TraceLane* lane, uint32_t bytes) {
  return lane->room >= bytes || GetRoom(lane);
}

// Once for some thousand events.
[[gnu::noinline]] bool Recorder::GetRoom(TraceLane* lane) {
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
  OncePerBuffer();
  TraceBuffers::Patience patience;
  for (;;) {
    const uint32_t releases = buffers_.releases();  // before the word that it tells of
    if (EndIfOver()) return false;
    if (!tracing()) break;
    TraceBuffers::Find found = buffers_.TryTake(&file_, lane);
    if (found == TraceBuffers::Find::kAllHeld ||
        (found == TraceBuffers::Find::kNone && own && IsTimeTo(kDeadEveryNs, &trace_buried_ns_))) {
      lanes_.CloseOfTheDead(&buffers_);
      found = buffers_.TryTake(&file_, lane);
    }
    if (found == TraceBuffers::Find::kTaken) return true;
    // Whoever interrupted this thread in the midst of an event must not wait: the recorder may be
    // waiting for that event. Nor who would wait for other threads: they may be waiting for this
    // one.
    const bool all_held = found == TraceBuffers::Find::kAllHeld;
    if ((all_held || (!own && !buffers_.drops())) && buffers_.TakeBeyond(&file_, lane)) return true;
    const bool waits = own && !all_held && !buffers_.drops() && !SyscallsFrozen();
    if (!waits) {
      lane->seen_releases = ~releases;
      break;
    }
    if (!buffers_.Wait(releases, &patience)) {
      if (!SyscallsFrozen()) EndTracing(true);
      break;
    }
  }
  buffers_.CountLost();
  return false;
}

// What a sample does each time, or a tick.
void Recorder::OncePerBuffer() {
  FollowControl();
  const bool due = IsTimeTo(wire::kTickNs, &trace_looked_ns_);
  if (due) modules_.CheckAll(&file_);
  if (due || ranges_published_.load(std::memory_order_relaxed) != os::PrivateRangesVersion()) {
    PublishMemory();
  }
}

inline Stack Recorder::TraceWalk(TraceLane* lane, const Registers& caller) {
  Stack stack = lane->walker.Walk(caller);
  if (modules_.any_gone()) [[unlikely]] {
    // Frames that stayed where they were keep their objects in place.
    for (uint32_t i = stack.unchanged; i < stack.count; ++i) {
      if (!modules_.MayHaveReplaced(stack.frames[i].pc)) continue;
      modules_.CheckGone(&file_);
      stack = lane->walker.Walk(caller);
      break;
    }
  }
  return stack;
}

// The number of a stack that the memo does not know, 0 if it cannot be kept.
[[gnu::noinline]] uint32_t Recorder::TraceStack(const Stack& stack, uint16_t labels) {
  wire::Loss loss = wire::Loss::kNoRoom;
  uint32_t number = stacks_.Intern(&file_, &modules_, exe_, stack, &loss, 0, labels);
  // Another thread is changing the list of modules: rather be late than without a stack.
  constexpr int kTries = 20;
  for (int i = 0; number == 0 && loss == wire::Loss::kBusy && i < kTries; ++i) {
    os::Nap(100'000);
    number = stacks_.Intern(&file_, &modules_, exe_, stack, &loss, 0, labels);
  }
  // By the name that it has now: the list of modules may have changed.
  if (number != 0) memo_.Keep(StackTable::NameOf(stack, modules_, 0, labels), number);
  return number;
}

// Enters the calling thread's lane if all is as it mostly is and so many bytes fit: nothing stands
// in the way of adding an event at once. Else nullptr.
inline TraceLane* Recorder::EnterQuickly(uintptr_t sp, uint32_t bytes) {
  const bool ready = process_state_->load(std::memory_order_acquire) ==
                     static_cast<uint32_t>(ProcessState::kReady);
  if (!ready || !trace_clock_.counts_cycles()) [[unlikely]]
    return nullptr;
  TraceLane* const lane = LanePool::EnterOwn(hg_thread, sp);
  if (lane == nullptr) [[unlikely]]
    return nullptr;
  if (lane->room >= bytes) [[likely]]
    return lane;
  LanePool::LeaveOwn(lane);
  return nullptr;
}

bool Recorder::TraceAddress(wire::TraceEventKind kind, uintptr_t address, uintptr_t sp) {
  TraceLane* lane = EnterQuickly(sp, kFreeBytes);
  if (lane == nullptr) [[unlikely]]
    return TraceAddressSlowly(kind, address, sp);
  lane->Append(wire::TraceFree{.time = 0, .what = wire::PackTraceWhat(kind, address)},
               [] { return TraceClock::ReadCycles(); });
  LanePool::LeaveOwn(lane);
  return true;
}

[[gnu::noinline]] bool Recorder::TraceAddressSlowly(wire::TraceEventKind kind, uintptr_t address,
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
                 [this] { return trace_clock_.Read(); });
  }
  lanes_.Leave(lane, &buffers_);
  return has_room;
}

void Recorder::TraceBlock(wire::TraceEventKind kind, const TracedBlock& block,
                          const Registers& caller) {
  ThreadState& thread = hg_thread;
  TraceLane* lane = EnterQuickly(caller.sp, kAllocationBytes);
  if (lane == nullptr) [[unlikely]] {
    if (!MayTrace()) return;
    lane = lanes_.Enter(&thread, caller.sp, &buffers_);
    if (lane == nullptr) return buffers_.CountLost();
    if (!HasRoom(lane, kAllocationBytes)) return lanes_.Leave(lane, &buffers_);
  }
  __builtin_prefetch(reinterpret_cast<const char*>(block.address) - sizeof(size_t));
  const Stack stack = TraceWalk(lane, caller);
  const uint64_t name = StackTable::NameOf(stack, modules_, 0, thread.labels);
  memo_.Prefetch(name);
  const uint64_t usable = block.room->Of(block.address, block.size);
  wire::TraceAllocation event{.time = 0,
                              .what = wire::PackTraceWhat(kind, block.address),
                              .size = block.size,
                              .stack = 0,
                              .slack = Slack(block.size, usable),
                              .function = static_cast<uint8_t>(block.function),
                              .alignment_log2 = block.alignment_log2};
  const auto clock = [this] { return trace_clock_.Read(); };
  // Reading the clock takes as long as the memo's answer is on its way.
  const auto know_stack = [this, name](wire::TraceAllocation* known) {
    known->stack = memo_.Find(name);
    return known->stack != 0;
  };
  if (!lane->AppendIf(event, clock, know_stack)) [[unlikely]] {
    event.stack = TraceStack(stack, thread.labels);
    lane->Append(event, clock);
  }
  lanes_.Leave(lane, &buffers_);
}

void Recorder::TraceRange(wire::TraceEventKind kind, uint64_t address, uint64_t length,
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
                 [this] { return trace_clock_.Read(); });
  }
  lanes_.Leave(lane, &buffers_);
}

}  // namespace heapgauge::agent
