// Gives the ids of a foreign file numbers from 0 on, in the order in which they are met.
//
// Files refer to things before they define them, and may choose any 64-bit ids. Almost all count
// from 1, so small ids are looked up in a plain vector; the others in a hash table. For each id it
// is kept where it was first met and whether it was defined, for messages.
//
// Memory is linear in the number of ids, but for 16 MiB at most of the vector. Not synchronised.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapgauge {

class IdTable {
 public:
  struct Entry {
    uint64_t id = 0;
    uint64_t offset = 0;  // of the field that first named it
    bool defined = false;
  };

  // The number of `id`, a new one if it was never met.
  uint32_t NumberOf(uint64_t id, uint64_t offset) {
    if (id < small_.size() && small_[id] != 0) return small_[id] - 1;
    return id < kSmall ? AddSmall(id, offset) : FindLarge(id, offset);
  }

  std::vector<Entry>& entries() { return entries_; }
  const std::vector<Entry>& entries() const { return entries_; }
  size_t size() const { return entries_.size(); }

 private:
  static constexpr uint64_t kSmall = 1 << 22;

  uint32_t Add(uint64_t id, uint64_t offset) {
    entries_.push_back({id, offset, false});
    return static_cast<uint32_t>(entries_.size() - 1);
  }

  uint32_t AddSmall(uint64_t id, uint64_t offset) {
    if (id >= small_.size()) {
      small_.resize(static_cast<size_t>(std::min(kSmall, std::max<uint64_t>(2 * id + 2, 64))));
    }
    const uint32_t number = Add(id, offset);
    small_[id] = number + 1;
    return number;
  }

  static size_t HashOf(uint64_t id) {
    id *= 0x9e3779b97f4a7c15;
    id ^= id >> 32;
    id *= 0xd6e8feb86659fd93;
    return static_cast<size_t>(id ^ id >> 32);
  }

  uint32_t FindLarge(uint64_t id, uint64_t offset) {
    if (2 * (large_ + 1) > slots_.size()) Grow();
    const size_t mask = slots_.size() - 1;
    size_t at = HashOf(id) & mask;
    for (; slots_[at] != 0; at = (at + 1) & mask) {
      if (entries_[slots_[at] - 1].id == id) return slots_[at] - 1;
    }
    const uint32_t number = Add(id, offset);
    slots_[at] = number + 1;
    ++large_;
    return number;
  }

  void Grow() {
    std::vector<uint32_t> old(std::max<size_t>(64, slots_.size() * 2));
    old.swap(slots_);
    const size_t mask = slots_.size() - 1;
    for (const uint32_t slot : old) {
      if (slot == 0) continue;
      size_t at = HashOf(entries_[slot - 1].id) & mask;
      while (slots_[at] != 0) at = (at + 1) & mask;
      slots_[at] = slot;
    }
  }

  std::vector<Entry> entries_;   // by number
  std::vector<uint32_t> small_;  // number + 1 by id, 0 none
  std::vector<uint32_t> slots_;  // number + 1 of the other ids
  size_t large_ = 0;
};

}  // namespace heapgauge
