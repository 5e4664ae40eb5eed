// The buffers of an exact trace (wire/trace_buffer.h): makes them in the gauge file, lends them to
// lanes, and takes them back once the recorder has read them.
//
// Bound. There are as many as the settings allow; a thread that finds none waits for the recorder,
// or loses its event if it may not wait. So a thread waits for nobody but the recorder. Were all
// buffers in the hands of threads, it would wait for those, and they perhaps for a lock of the
// program's that it holds: then one more is made, beyond the bound. If the recorder says that it
// stops, or shows no sign of life for some seconds, tracing is over.
//
// Lock-free: a buffer is taken by one compare-and-swap, once for some thousand events, and each
// lane begins its search at another place. A buffer that a handler took and jumped away with is
// lost. Allocation-free but for a table at the start; async-signal-safe; zero-initialised.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/table/gauge_file.h"
#include "agent/trace/trace_lane.h"
#include "agent/trace/trace_settings.h"

namespace heapgauge::agent {

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
  // One more, whatever the bound; false if the file cannot grow.
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

}  // namespace heapgauge::agent
