#include "core/trace/record/event_queue.h"

namespace heapgauge::trace {

Block EventQueue::ToBlock(const LiveBlock& block) {
  Block out;
  out.number = block.number;
  out.birth_ns = block.birth_ns;
  out.address = block.address;
  out.size = block.size;
  out.previous = block.previous;
  out.stack = block.stack;
  out.thread = block.thread;
  out.slack = block.slack;
  out.function = block.function;
  out.alignment_log2 = block.alignment_log2;
  out.is_mapping = (block.flags & LiveBlock::kMapping) != 0;
  return out;
}

void EventQueue::Add(const Event& event) {
  if (options_.cull_below_ns == 0) {
    Write(event);
    return;
  }
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
  Advance(time_ns);
  if (Cull(slot)) return;
  Add({time_ns, kNoSlot, slot, thread, distance, 0});
}

void EventQueue::Became(uint32_t old, uint32_t slot, uint32_t thread, uint32_t distance) {
  Advance((*pool_)[slot].birth_ns);
  if (Cull(old)) {
    Born(slot);
    return;
  }
  Add({(*pool_)[slot].birth_ns, slot, old, thread, distance, 0});
}

void EventQueue::Write(const Event& event) {
  Block old;
  const bool dies = event.died != kNoSlot && (event.flags & kOldLives) == 0;
  if (dies) {
    old = ToBlock((*pool_)[event.died]);
    old.death_ns = event.time_ns;
    old.death_thread = event.death_thread;
    old.distance = event.distance;
    if (!old.is_mapping) {
      --totals_.live_blocks;
      totals_.live_bytes -= old.size;
    }
  }
  if (event.born == kNoSlot) {
    if (!dies) return;
    ++totals_.events;
    sink_->Free(old);
    pool_->Return(event.died);
    return;
  }
  LiveBlock& block = (*pool_)[event.born];
  block.flags &= static_cast<uint8_t>(~LiveBlock::kHeld);
  block.number = next_number_++;
  if (event.died != kNoSlot) block.previous = (*pool_)[event.died].number;
  ++totals_.events;
  ++totals_.blocks;
  if ((block.flags & LiveBlock::kMapping) == 0) {
    ++totals_.live_blocks;
    totals_.live_bytes += block.size;
    if (totals_.live_bytes > totals_.peak_bytes) {
      totals_.peak_bytes = totals_.live_bytes;
      totals_.peak_ns = event.time_ns;
    }
  }
  if (dies) {
    old.resized_away = true;
    sink_->Reallocate(old, ToBlock(block));
    pool_->Return(event.died);
  } else {
    sink_->Allocate(ToBlock(block));
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
