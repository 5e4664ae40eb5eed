// Live blocks by their address, for formats whose frees name nothing else.
//
// Open addressing in one piece of memory; what is taken out leaves no mark. The hash is keyed by a
// number that no file can know, so no choice of addresses makes it slow. Not synchronised.
#pragma once

#include <sys/auxv.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace heapgauge {

template <typename Value>
class AddressHashMap {
 public:
  AddressHashMap() : slots_(1024) {
    const auto* random = reinterpret_cast<const char*>(getauxval(AT_RANDOM));
    if (random != nullptr) std::memcpy(&key_, random, sizeof key_);
  }

  size_t size() const { return count_; }

  // Puts a value in place of the one that the address had. Returns whether it had one.
  bool Put(uint64_t address, const Value& value, Value* replaced) {
    if (2 * (count_ + 1) > slots_.size()) Grow();
    Slot& slot = slots_[Find(address)];
    const bool was_used = slot.used;
    if (was_used) {
      *replaced = slot.value;
    } else {
      ++count_;
    }
    slot = {address, value, true};
    return was_used;
  }

  // Removes the address; false if it is not there.
  bool Take(uint64_t address, Value* value) {
    size_t hole = Find(address);
    if (!slots_[hole].used) return false;
    *value = slots_[hole].value;
    --count_;
    // What stands behind moves up if its way leads over the hole.
    const size_t mask = slots_.size() - 1;
    for (size_t at = (hole + 1) & mask; slots_[at].used; at = (at + 1) & mask) {
      const size_t home = HomeOf(slots_[at].address);
      if (((at - home) & mask) < ((at - hole) & mask)) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole] = {};
    return true;
  }

  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const Slot& slot : slots_) {
      if (slot.used) visit(slot.address, slot.value);
    }
  }

 private:
  struct Slot {
    uint64_t address = 0;
    Value value{};
    bool used = false;
  };

  size_t HomeOf(uint64_t address) const {
    uint64_t hash = (address ^ key_) * 0x9e3779b97f4a7c15;
    hash = (hash ^ hash >> 32) * (key_ | 1);
    return static_cast<size_t>(hash ^ hash >> 29) & (slots_.size() - 1);
  }
  // Of the address, or where it would be put.
  size_t Find(uint64_t address) const {
    size_t at = HomeOf(address);
    while (slots_[at].used && slots_[at].address != address) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void Grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.used) slots_[Find(slot.address)] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two, at most half full
  size_t count_ = 0;
  uint64_t key_ = 0;  // the kernel's gift to this process
};

}  // namespace heapgauge
