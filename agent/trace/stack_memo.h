// Remembers the numbers of stacks that were seen lately, in front of the StackTable: one cache line
// answers, where the table's index, which also names every node, may need a dozen.
//
// Lossy: a set of eight entries for each stack, of which a new one replaces any. An entry is one
// word, so it is written without a lock: the number and as much of the key as there is room for.
// With the place of its set that makes 52 bits of the key; a million new stacks are mistaken for
// another with a probability of one in a hundred thousand. It is small on purpose: where it does
// not stay in the processor's cache it is of no use. Numbers never change, so nothing is ever out
// of date. Lock-free, async-signal-safe; zero-initialised memory finds nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/sys/os_memory.h"

namespace heapgauge::agent {

class StackMemo {
 public:
  // Without memory it finds nothing.
  void Start() {
    if (sets_ == nullptr) sets_ = static_cast<Set*>(os::MapPrivate(kSets * sizeof(Set)));
  }

  // Find will soon be called.
  void Prefetch(uint64_t key) const {
    if (sets_ != nullptr) __builtin_prefetch(&SetOf(key));
  }

  // 0 if it is not there. `key` is not 0, and all its bits are well mixed.
  uint32_t Find(uint64_t key) const {
    if (sets_ == nullptr) return 0;
    const Set& set = SetOf(key);
    const uint32_t first = FirstOf(key);
#pragma GCC unroll 8
    for (uint32_t i = 0; i < kWays; ++i) {
      const uint64_t word = set.entry[first ^ i].load(std::memory_order_acquire);
      if ((word ^ key) << kNumberBits == 0) return static_cast<uint32_t>(word >> kTagBits);
    }
    return 0;
  }

  void Keep(uint64_t key, uint32_t number) {
    if (sets_ == nullptr || number >> kNumberBits != 0) return;
    Set& set = SetOf(key);
    const uint32_t first = FirstOf(key);
    std::atomic<uint64_t>* place = &set.entry[number % kWays];
    for (uint32_t i = kWays; i-- > 0;) {
      std::atomic<uint64_t>& entry = set.entry[first ^ i];
      if (entry.load(std::memory_order_relaxed) == 0) place = &entry;
    }
    place->store(uint64_t{number} << kTagBits | (key & kTagMask), std::memory_order_release);
  }

  size_t private_bytes() const { return sets_ == nullptr ? 0 : kSets * sizeof(Set); }

 private:
  static constexpr uint32_t kSetBits = 12;
  static constexpr uint32_t kSets = 1 << kSetBits;  // 32,768 stacks, 256 KiB
  static constexpr uint32_t kWays = 8;
  static constexpr uint32_t kNumberBits = 24;  // more stacks do not fit into a gauge file
  static constexpr uint32_t kTagBits = 64 - kNumberBits;
  static constexpr uint64_t kTagMask = (uint64_t{1} << kTagBits) - 1;

  struct Set {
    // The number, and below it the lower bits of the key; 0 empty.
    std::atomic<uint64_t> entry[kWays];
  };
  static_assert(sizeof(Set) == 64);

  Set& SetOf(uint64_t key) const { return sets_[key >> (64 - kSetBits)]; }
  // The entry of the set to look at first.
  static uint32_t FirstOf(uint64_t key) { return static_cast<uint32_t>(key >> kTagBits) % kWays; }

  Set* sets_ = nullptr;
};

}  // namespace heapgauge::agent
