// A map from addresses of bytes in a file to anything, for the few million look-ups of a large
// profile: one array that is probed in order, values beside it.
//
// Values keep their place. Owned by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace heapgauge {

template <typename Value>
class PointerMap {
 public:
  PointerMap() : slots_(kFirstSize) {}

  // The value of that key, made if there is none; `*is_new` tells.
  Value* Get(const void* key, bool* is_new) {
    Slot* slot = Probe(key);
    *is_new = slot->value == nullptr;
    if (!*is_new) return slot->value;
    Value* value = &values_.emplace_back();
    *slot = {key, value};
    if (values_.size() * 2 > slots_.size()) Grow();
    return value;
  }

 private:
  static constexpr size_t kFirstSize = 256;
  struct Slot {
    const void* key = nullptr;
    Value* value = nullptr;
  };

  // Both halves take part, so that nobody can choose keys that all collide without knowing where
  // the file lies in memory.
  static uint64_t Hash(const void* key) {
    uint64_t h = reinterpret_cast<uintptr_t>(key);
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93ull;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93ull;
    return h ^ h >> 32;
  }
  Slot* Probe(const void* key) {
    const size_t mask = slots_.size() - 1;
    size_t at = static_cast<size_t>(Hash(key)) & mask;
    while (slots_[at].value != nullptr && slots_[at].key != key) at = (at + 1) & mask;
    return &slots_[at];
  }
  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.value != nullptr) *Probe(slot.key) = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two
  std::deque<Value> values_;
};

}  // namespace heapgauge
