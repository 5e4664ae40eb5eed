// Numbers for pairs of a size and a stack, in order of appearance, from 1. There may be ten
// millions of them: one block of memory, and a hash that no choice of sizes makes slow.
//
// Not synchronised.
#pragma once

#include <sys/auxv.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace heapgauge {

class PairNumbers {
 public:
  PairNumbers() : slots_(1024) {
    const auto* random = reinterpret_cast<const char*>(getauxval(AT_RANDOM));
    if (random != nullptr) std::memcpy(&key_, random, sizeof key_);
  }

  // The number of the pair. `is_new` is set if it got one now, the next.
  uint32_t Find(uint64_t size, uint32_t stack, bool* is_new) {
    if (2 * (count_ + 1) > slots_.size()) Grow();
    Slot& slot = slots_[Place(size, stack)];
    *is_new = slot.number == kFree;
    if (*is_new) slot = {size, stack, ++count_};
    return slot.number;
  }

 private:
  static constexpr uint32_t kFree = UINT32_MAX;
  struct Slot {
    uint64_t size = 0;
    uint32_t stack = 0;
    uint32_t number = kFree;
  };

  size_t Place(uint64_t size, uint32_t stack) const {
    uint64_t hash = (size ^ key_) * 0x9e3779b97f4a7c15;
    hash = (hash ^ hash >> 32 ^ stack) * (key_ | 1);
    hash = (hash ^ hash >> 29) * 0xd6e8feb86659fd93;
    size_t at = static_cast<size_t>(hash >> 20) & (slots_.size() - 1);
    while (slots_[at].number != kFree && (slots_[at].size != size || slots_[at].stack != stack)) {
      at = (at + 1) & (slots_.size() - 1);
    }
    return at;
  }
  void Grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number != kFree) slots_[Place(slot.size, slot.stack)] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two, at most half full
  uint32_t count_ = 0;
  uint64_t key_ = 0;
};

}  // namespace heapgauge
