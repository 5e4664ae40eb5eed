#include "core/trace/record/event_queue.h"

namespace heapgauge::trace {

void EventQueue::Hold(const Event& event) {
  if (held_.size() >= options_.most_held) WriteFirst();
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
  ++culled_.blocks;
  culled_.bytes += block.size;
  pool_->Return(slot);
  return true;
}

void EventQueue::Split(uint32_t old, uint32_t slot, uint32_t rest, uint32_t thread,
                       uint32_t distance) {
  LiveBlock& block = (*pool_)[rest];
  Advance(block.birth_ns);
  // One that is held still will be culled, and then is nobody's previous.
  const LiveBlock& dead = (*pool_)[old];
  const uint64_t previous = (dead.flags & LiveBlock::kHeld) != 0 ? kNoBlock : dead.number;
  Became(old, slot, thread, distance);
  if (is_direct()) {
    WriteBirth(&block, previous);
  } else {
    HoldBirth(rest, previous);
  }
}

void EventQueue::HoldBirth(uint32_t slot, uint64_t previous) {
  LiveBlock& block = (*pool_)[slot];
  block.previous = previous;
  Advance(block.birth_ns);
  Hold({block.birth_ns, slot, kNoSlot, kNoIndex, kForeign});
}

void EventQueue::HoldDeath(uint32_t slot, const Death& death) {
  Advance(death.time_ns);
  if (Cull(slot)) return;
  Hold({death.time_ns, kNoSlot, slot, death.thread, death.distance});
}

void EventQueue::HoldBoth(uint32_t old, uint32_t slot, uint32_t thread, uint32_t distance) {
  LiveBlock& block = (*pool_)[slot];
  block.previous = kNoBlock;  // unless the old one is written
  Advance(block.birth_ns);
  const bool culled = Cull(old);
  Hold({block.birth_ns, slot, culled ? kNoSlot : old, culled ? kNoIndex : thread,
        culled ? kForeign : distance});
}

void EventQueue::Write(const Event& event) {
  if (event.born == kNoSlot) {
    if (event.died != kNoSlot) {
      WriteDeath(event.died, &(*pool_)[event.died],
                 {event.time_ns, event.death_thread, event.distance});
    }
    return;
  }
  LiveBlock& block = (*pool_)[event.born];
  block.flags &= static_cast<uint8_t>(~LiveBlock::kHeld);
  if (event.died == kNoSlot) {
    WriteBirth(&block, block.previous);
  } else {
    WriteBoth(event.died, event.born, event.death_thread, event.distance);
  }
}

// Out of the queue first: what is written may return slots, but never looks at the queue.
void EventQueue::WriteFirst() {
  const Event event = held_.front();
  held_.pop_front();
  ++first_;
  Write(event);
}

void EventQueue::WriteUntil(uint64_t now_ns) {
  while (!held_.empty() && held_.front().time_ns + options_.cull_below_ns <= now_ns) WriteFirst();
}

void EventQueue::Finish() {
  while (!held_.empty()) WriteFirst();
}

}  // namespace heapgauge::trace
