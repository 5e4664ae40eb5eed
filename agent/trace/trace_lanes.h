// Where threads write the events of an exact trace: what one thread writes with (TraceLane), the
// buffers in the gauge file that are lent to lanes (TraceBuffers), and the lanes that are lent to
// threads (LanePool).
//
// Lock-free, async-signal-safe, zero-initialised. Allocation-free, but for a table of buffers at
// the start; new lanes are mapped.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/sys/thread_state.h"
#include "agent/table/gauge_file.h"
#include "agent/trace/trace_settings.h"
#include "agent/unwind/walker.h"
#include "wire/gauge_format.h"

namespace heapgauge::agent {

// What one thread writes its events with: the buffer that is lent to it, how far that is filled,
// the walker that remembers its stack, and the paths by which it came there. A thread has one at a
// time and keeps it.
//
// Private memory: what is in the file is written, never read back (but for `released`). Only the
// thread itself touches its lane, and its signal handlers: these find it busy and use another. When
// a thread is no more its lane passes to another (LanePool). Zeroed memory is a valid lane.
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

  // Adds one event; `clock` gives its time. REQUIRES: room. A signal handler may interrupt this at
  // any step and never return: then the event is missing or complete, never partial.
  template <typename Event, typename Clock>
  void Append(const Event& event, const Clock& clock) {
    AppendIf(event, clock, [](Event*) { return true; });
  }
  // The same, but `complete` may refuse the event after the clock was read.
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
    // The event is complete before it counts: a handler may jump away right after.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    // Computed from `end`, not subtracted: a handler may have changed `room` meanwhile.
    const uint32_t end = position + static_cast<uint32_t>(sizeof event);
    room = wire::kSegmentBytes - end;
    shown.store(end, std::memory_order_release);
    return true;
  }
};

// The buffers of an exact trace (wire/trace_buffer.h): makes them in the gauge file, lends them to
// lanes, and takes them back once the recorder has read them.
//
// Bound. There are as many as the settings allow; a thread that finds none waits for the recorder,
// or loses its event if it may not wait. So a thread waits for nobody but the recorder. Were all
// buffers in the hands of threads, it would wait for those, and they perhaps for a lock of the
// program's that it holds: then one more is made, beyond the bound. If the recorder says that it
// stops, or shows no sign of life for some seconds, tracing is over.
//
// A buffer is taken by one compare-and-swap, once for some thousand events, and each lane begins
// its search at another place. A buffer that a handler took and jumped away with is lost.
class TraceBuffers {
 public:
  // False if there is no memory. Says in the header that this process traces.
  bool Start(const TraceSettings& settings, wire::Header* header);
  // In a forked child, which has a file of its own: the parent's buffers are let go.
  void StartInChild(wire::Header* header);

  enum class Find {
    kTaken,
    kNone,     // there may be one once the recorder has read on
    kAllHeld,  // all are in the hands of threads
  };
  // A buffer that was read, or a new one while there may be more.
  Find TryTake(GaugeFile* file, TraceLane* lane);
  // A new one, even beyond the bound; false if the file cannot grow.
  bool TakeBeyond(GaugeFile* file, TraceLane* lane);
  // The lane's buffer is complete; it has none then.
  void Close(TraceLane* lane);

  // The number that changes when buffers were released.
  uint32_t releases() const { return std::atomic_ref(control().releases).load(); }
  // The recorder has stopped for good, and said so. It does before it changes `releases`.
  bool is_over() const { return std::atomic_ref(*over_).load() != 0; }
  // Until `releases` is no longer `seen`, for a tenth of a second at the most. False if that is not
  // possible, or if it has been so for too long: `patience` is for this to keep count in, 0 at
  // first.
  struct Patience {
    uint64_t signs = 0;  // of life, as they were last seen
    uint64_t used_ns = 0;
  };
  bool Wait(uint32_t seen, Patience* patience);
  bool drops() const { return settings_.drops; }

  void CountLost() { std::atomic_ref(control().lost).fetch_add(1, std::memory_order_relaxed); }
  // No more events. `gave_up`: for want of a recorder.
  void End(bool gave_up);

  size_t private_bytes() const { return slots_ == nullptr ? 0 : kMaxSlots * sizeof(Slot); }
  static constexpr uint32_t kMaxSlots = 4096;

 private:
  struct Slot {
    std::atomic<wire::TraceBufferHeader*> buffer;  // nullptr: not made
    std::atomic<uint32_t> held;                    // 1: by a lane
    std::atomic<uint32_t> round;                   // of the holder, or the last one
  };

  wire::TraceControl& control() const { return *control_; }
  bool Make(GaugeFile* file, TraceLane* lane, uint32_t most);
  void Lend(uint32_t slot, TraceLane* lane);
  void ShowSettings(wire::Header* header);

  TraceSettings settings_;
  wire::TraceControl* control_ = nullptr;
  uint32_t* over_ = nullptr;  // Header::trace_over
  Slot* slots_ = nullptr;
  std::atomic<uint32_t> count_;
};

// Gives each traced thread its lane, and reuses the lanes of threads that have ended.
//
// A thread finds its lane through its ThreadState and, while it uses it, marks it busy with its
// stack pointer. A signal handler that interrupts it sees the mark and uses the thread's next lane
// (`inner`). If a handler jumped out, the mark stays. The thread then compares its stack pointer:
// if it is certainly further up the stack (StackMemory::IsBackFrom), it uses the lane again,
// otherwise the next one. A lane belongs to its thread as long as the kernel knows the thread. A
// new thread that needs a lane asks the kernel about a few of them, because two threads on one lane
// would ruin the walker. So nothing has to happen when a thread ends.
//
// A vfork child shares everything with its parent thread, the ThreadState too, and uses its lane.
// If the parent has none, the child takes one and gives it back at once.
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
