#include "core/trace/record/event_queue.h"

namespace heapgauge::trace {

void EventQueue::Add(const Event& event) {
  if (options_.cull_below_ns == 0) {
    Write(event);
  } else {
    Hold(event);
  }
}

void EventQueue::Hold(const Event& event) {
  if (held_.size() >= options_.most_held) {
    Write(held_.front());
    held_.pop_front();
    ++first_;
  }
  if (event.born != kNoSlot) {
    LiveBlock& block = (*pool_)[event.born];
    block.flags |= LiveBlock::kHeld;
    block.link = first_ + static_cast<uint32_t>(held_.size());
  }
  held_.push_back(event);
}

bool EventQueue::Cull(uint32_t slot) {
  const LiveBlock& block = (*pool_)[slot];
  // Held long enough ones have been written by now.
  if ((block.flags & LiveBlock::kHeld) == 0) return false;
  Event& birth = held_[block.link - first_];
  birth.born = kNoSlot;
  if ((birth.flags & kOldLives) != 0) birth.died = kNoSlot;
  ++totals_.culled_blocks;
  totals_.culled_bytes += block.size;
  pool_->Return(slot);
  return true;
}

void EventQueue::BornOf(uint32_t slot, uint32_t old) {
  const uint64_t time_ns = (*pool_)[slot].birth_ns;
  Advance(time_ns);
  // One that is held still will be culled, and then is nobody's previous.
  const bool culled = ((*pool_)[old].flags & LiveBlock::kHeld) != 0;
  Add({time_ns, slot, culled ? kNoSlot : old, kNoIndex, kForeign, kOldLives});
}

void EventQueue::Died(uint32_t slot, uint64_t time_ns, uint32_t thread, uint32_t distance) {
  if (options_.cull_below_ns == 0) {
    WriteDeath(slot, time_ns, thread, distance);
    return;
  }
  Advance(time_ns);
  if (Cull(slot)) return;
  Hold({time_ns, kNoSlot, slot, thread, distance, 0});
}

void EventQueue::Became(uint32_t old, uint32_t slot, uint32_t thread, uint32_t distance) {
  Advance((*pool_)[slot].birth_ns);
  if (Cull(old)) {
    Born(slot);
    return;
  }
  Add({(*pool_)[slot].birth_ns, slot, old, thread, distance, 0});
}

void EventQueue::CountBirth(LiveBlock* block) {
  block->flags &= static_cast<uint8_t>(~LiveBlock::kHeld);
  block->number = next_number_++;
  ++totals_.events;
  ++totals_.blocks;
  if (block->is_mapping) return;
  ++totals_.live_blocks;
  totals_.live_bytes += block->size;
  if (totals_.live_bytes > totals_.peak_bytes) {
    totals_.peak_bytes = totals_.live_bytes;
    totals_.peak_ns = block->birth_ns;
  }
}

void EventQueue::CountDeath(const LiveBlock& block) {
  if (block.is_mapping) return;
  --totals_.live_blocks;
  totals_.live_bytes -= block.size;
}

void EventQueue::WriteBirth(uint32_t slot, uint64_t previous) {
  LiveBlock& block = (*pool_)[slot];
  block.previous = previous;
  CountBirth(&block);
  sink_->Born(block);
}

void EventQueue::WriteDeath(uint32_t slot, uint64_t time_ns, uint32_t thread, uint32_t distance) {
  const LiveBlock& block = (*pool_)[slot];
  CountDeath(block);
  ++totals_.events;
  sink_->Died(block, {time_ns, thread, distance});
  pool_->Return(slot);
}

void EventQueue::WriteBoth(uint32_t old, uint32_t slot, uint32_t thread, uint32_t distance) {
  const LiveBlock& dead = (*pool_)[old];
  LiveBlock& block = (*pool_)[slot];
  CountDeath(dead);
  block.previous = dead.number;
  CountBirth(&block);
  sink_->Resized(dead, {block.birth_ns, thread, distance}, block);
  pool_->Return(old);
}

void EventQueue::Write(const Event& event) {
  if (event.born == kNoSlot) {
    if (event.died != kNoSlot) {
      WriteDeath(event.died, event.time_ns, event.death_thread, event.distance);
    }
  } else if (event.died == kNoSlot) {
    WriteBirth(event.born, kNoBlock);
  } else if ((event.flags & kOldLives) != 0) {
    WriteBirth(event.born, (*pool_)[event.died].number);
  } else {
    WriteBoth(event.died, event.born, event.death_thread, event.distance);
  }
}

void EventQueue::WriteUntil(uint64_t now_ns) {
  while (!held_.empty() && held_.front().time_ns + options_.cull_below_ns <= now_ns) {
    // Out of the queue first: what is written may return slots, but never looks at the queue.
    const Event event = held_.front();
    held_.pop_front();
    ++first_;
    Write(event);
  }
}

void EventQueue::Finish() {
  while (!held_.empty()) {
    const Event event = held_.front();
    held_.pop_front();
    ++first_;
    Write(event);
  }
}

}  // namespace heapgauge::trace
