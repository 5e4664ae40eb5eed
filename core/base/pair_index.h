// Numbers for pairs of ids, as a trie needs them to find the child of a node, or for other words of
// 64 bits, in one block of memory: trees of a million nodes are common.
//
// Not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapgauge {

class PairIndex {
 public:
  explicit PairIndex(size_t expected) {
    size_t slots = 16;
    while (slots < 2 * expected) slots *= 2;
    slots_.resize(slots);
  }

  // The number of the pair, or `next` if it is new.
  uint32_t Find(uint32_t a, uint32_t b, uint32_t next) {
    return FindWord(uint64_t{a} << 32 | b, next);
  }
  // The same for what is one word by nature.
  uint32_t FindWord(uint64_t word, uint32_t next) {
    if (2 * (count_ + 1) > slots_.size()) Grow();
    Slot& slot = At(word);
    if (slot.number == kFree) {
      slot = {word, next};
      ++count_;
    }
    return slot.number;
  }
  size_t size() const { return count_; }

 private:
  static constexpr uint32_t kFree = 0xffffffff;
  struct Slot {
    uint64_t key = 0;
    uint32_t number = kFree;
  };

  Slot& At(uint64_t key) {
    const size_t mask = slots_.size() - 1;
    uint64_t hash = key * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 32;
    size_t at = static_cast<size_t>(hash * 0xd6e8feb86659fd93ull >> 16) & mask;
    while (slots_[at].number != kFree && slots_[at].key != key) at = (at + 1) & mask;
    return slots_[at];
  }

  void Grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number != kFree) At(slot.key) = slot;
    }
  }

  std::vector<Slot> slots_;
  size_t count_ = 0;
};

}  // namespace heapgauge
