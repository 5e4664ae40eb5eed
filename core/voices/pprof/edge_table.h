// Finds the edge between two nodes of a graph, or adds it. Open addressing, one probe mostly: this
// is asked once for each frame of each distinct stack.
//
// Not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapgauge::pprof {

class EdgeTable {
 public:
  EdgeTable() : slots_(1024) {}

  // The number of the edge; edges are numbered as they are met.
  uint32_t Find(uint32_t src, uint32_t dest) {
    const uint64_t key = uint64_t{src} << 32 | dest;
    for (size_t i = Hash(key);; ++i) {
      Slot& slot = slots_[i & (slots_.size() - 1)];
      if (slot.id_plus_1 == 0) return Add(key, &slot);
      if (slot.key == key) return slot.id_plus_1 - 1;
    }
  }

  size_t size() const { return size_; }

 private:
  struct Slot {
    uint64_t key = 0;
    uint32_t id_plus_1 = 0;
  };

  static size_t Hash(uint64_t key) {
    key *= 0x9e3779b97f4a7c15;
    return key ^ key >> 32;
  }

  uint32_t Add(uint64_t key, Slot* slot) {
    slot->key = key;
    slot->id_plus_1 = static_cast<uint32_t>(++size_);
    const auto id = static_cast<uint32_t>(size_ - 1);
    if (size_ * 2 > slots_.size()) Grow();
    return id;
  }

  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.id_plus_1 == 0) continue;
      size_t i = Hash(slot.key);
      while (slots_[i & (slots_.size() - 1)].id_plus_1 != 0) ++i;
      slots_[i & (slots_.size() - 1)] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two
  size_t size_ = 0;
};

}  // namespace heapgauge::pprof
