// The last step before the file: numbers blocks and hands events to the sink, in order of time.
// With culling it first holds every event back for as long as a block has to live to be kept: a
// block that dies before leaves nothing behind.
//
// What is held is bounded; when it gets too much the oldest events are written although their
// blocks may still die young. One thread.
#pragma once

#include <cstdint>
#include <deque>

#include "core/trace/file/block.h"
#include "core/trace/record/live_blocks.h"

namespace heapgauge::trace {

class EventQueue {
 public:
  static constexpr uint32_t kNoSlot = BlockPool::kNoSlot;
  struct Options {
    uint64_t cull_below_ns = 0;    // 0: nothing is held back
    size_t most_held = 1'000'000;  // events
  };
  struct Culled {
    uint64_t blocks = 0;
    uint64_t bytes = 0;
  };

  // Both must outlive it.
  EventQueue(BlockPool* pool, EventSink* sink, const Options& options)
      : pool_(pool), sink_(sink), options_(options) {}

  // A block of the pool was born, at its birth_ns.
  void Born(uint32_t slot, LiveBlock* block) {
    if (is_direct()) [[likely]] {
      WriteBirth(block, kNoBlock);
    } else {
      HoldBirth(slot);
    }
  }
  // A block died; its slot belongs to the queue from now on.
  void Died(uint32_t slot, const Death& death) { Died(slot, &(*pool_)[slot], death); }
  // `block` is that of the slot.
  void Died(uint32_t slot, LiveBlock* block, const Death& death) {
    if (is_direct()) [[likely]] {
      WriteDeath(slot, block, death);
    } else {
      HoldDeath(slot, death);
    }
  }
  // Both at once: `slot` was made of `old`. The death has no time of its own.
  void Became(uint32_t old, uint32_t slot, uint32_t thread, uint32_t distance) {
    if (is_direct()) [[likely]] {
      WriteBoth(old, slot, thread, distance);
    } else {
      HoldBoth(old, slot, thread, distance);
    }
  }
  // The same, and then another one, `rest`, is born of `old` as well. They come one after the
  // other, so that at no moment more is live than was before.
  void Split(uint32_t old, uint32_t slot, uint32_t rest, uint32_t thread, uint32_t distance);

  // Writes what has been held long enough.
  void Advance(uint64_t now_ns) {
    if (!held_.empty()) WriteUntil(now_ns);
  }
  // Writes all.
  void Finish();

  const Culled& culled() const { return culled_; }

 private:
  struct Event {
    uint64_t time_ns;
    uint32_t born;  // slots; both kNoSlot: nothing is left of it
    uint32_t died;
    uint32_t death_thread;
    uint32_t distance;
  };
  bool is_direct() const { return options_.cull_below_ns == 0; }
  [[gnu::noinline]] void HoldBirth(uint32_t slot, uint64_t previous = kNoBlock);
  [[gnu::noinline]] void HoldDeath(uint32_t slot, const Death& death);
  [[gnu::noinline]] void HoldBoth(uint32_t old, uint32_t slot, uint32_t thread, uint32_t distance);
  void Hold(const Event& event);
  void Write(const Event& event);
  void WriteFirst();
  void WriteBirth(LiveBlock* block, uint64_t previous) {
    block->previous = previous;
    block->number = next_number_++;
    sink_->Born(*block);
  }
  void WriteDeath(uint32_t slot, LiveBlock* block, const Death& death) {
    sink_->Died(*block, death);
    pool_->Return(slot, block);
  }
  void WriteBoth(uint32_t old, uint32_t slot, uint32_t thread, uint32_t distance) {
    const LiveBlock& dead = (*pool_)[old];
    LiveBlock& block = (*pool_)[slot];
    block.previous = dead.number;
    block.number = next_number_++;
    sink_->Resized(dead, {block.birth_ns, thread, distance}, block);
    pool_->Return(old);
  }
  void WriteUntil(uint64_t now_ns);
  // True if the block left no trace.
  bool Cull(uint32_t slot);

  BlockPool* pool_;
  EventSink* sink_;
  Options options_;
  std::deque<Event> held_;
  uint32_t first_ = 0;  // number of the first one held; wraps
  uint64_t next_number_ = 0;
  Culled culled_;
};

}  // namespace heapgauge::trace
