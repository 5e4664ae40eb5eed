// The last step before the file: numbers blocks and hands events to the sink, in order of time.
// With culling it first holds every event back for as long as a block has to live to be kept: a
// block that dies before leaves nothing behind.
//
// What is held is bounded; when it gets too much the oldest events are written although their
// blocks may still die young. One thread.
#ifndef HEAPGAUGE_CORE_TRACE_RECORD_EVENT_QUEUE_H_
#define HEAPGAUGE_CORE_TRACE_RECORD_EVENT_QUEUE_H_

#include <cstdint>
#include <deque>

#include "core/trace/event_sink.h"
#include "core/trace/record/live_blocks.h"

namespace heapgauge::trace {

class EventQueue {
 public:
  static constexpr uint32_t kNoSlot = BlockPool::kNoSlot;
  struct Options {
    uint64_t cull_below_ns = 0;    // 0: nothing is held back
    size_t most_held = 1'000'000;  // events
  };
  // What was written, mappings left out where it is about bytes.
  struct Totals {
    uint64_t events = 0;
    uint64_t blocks = 0;  // born, also mappings
    uint64_t live_blocks = 0;
    uint64_t live_bytes = 0;
    uint64_t peak_bytes = 0;
    uint64_t peak_ns = 0;
    uint64_t culled_blocks = 0;
    uint64_t culled_bytes = 0;
  };

  // Both must outlive it.
  EventQueue(BlockPool* pool, EventSink* sink, const Options& options)
      : pool_(pool), sink_(sink), options_(options) {}

  // A block of the pool was born, at its birth_ns.
  void Born(uint32_t slot) {
    if (options_.cull_below_ns == 0) {
      WriteBirth(slot, kNoBlock);
    } else {
      Hold({(*pool_)[slot].birth_ns, slot, kNoSlot, kNoIndex, kForeign, 0});
    }
  }
  // What is left of `old`, which still is to die by Became: its previous.
  void BornOf(uint32_t slot, uint32_t old);
  // A block died; its slot belongs to the queue from now on.
  void Died(uint32_t slot, uint64_t time_ns, uint32_t thread, uint32_t distance);
  // Both at once: `slot` was made of `old`.
  void Became(uint32_t old, uint32_t slot, uint32_t thread, uint32_t distance);

  // Writes what has been held long enough.
  void Advance(uint64_t now_ns) {
    if (!held_.empty()) WriteUntil(now_ns);
  }
  // Writes all.
  void Finish();

  const Totals& totals() const { return totals_; }

 private:
  enum : uint32_t { kOldLives = 1 };
  struct Event {
    uint64_t time_ns;
    uint32_t born;  // slots; both kNoSlot: nothing is left of it
    uint32_t died;
    uint32_t death_thread;
    uint32_t distance;
    uint32_t flags;
  };
  void Add(const Event& event);
  void Hold(const Event& event);
  void Write(const Event& event);
  void WriteBirth(uint32_t slot, uint64_t previous);
  void WriteDeath(uint32_t slot, uint64_t time_ns, uint32_t thread, uint32_t distance);
  void WriteBoth(uint32_t old, uint32_t slot, uint32_t thread, uint32_t distance);
  void CountBirth(LiveBlock* block);
  void CountDeath(const LiveBlock& block);
  void WriteUntil(uint64_t now_ns);
  // True if the block left no trace.
  bool Cull(uint32_t slot);

  BlockPool* pool_;
  EventSink* sink_;
  Options options_;
  std::deque<Event> held_;
  uint32_t first_ = 0;  // number of the first one held; wraps
  uint64_t next_number_ = 0;
  Totals totals_;
};

}  // namespace heapgauge::trace

#endif  // HEAPGAUGE_CORE_TRACE_RECORD_EVENT_QUEUE_H_
