// Remembers the numbers of stacks that were seen lately, in front of the StackTable: one cache line
// answers, where the table's index, which also names every node, may need a dozen.
//
// Lossy: a set of four entries for each stack, of which a new one replaces any. Entries are written
// without a lock; each word of an entry carries part of its key, so that a reader who meets two
// halves of different ones notices. Numbers never change, so nothing is ever out of date.
// Lock-free, async-signal-safe; zero-initialised memory finds nothing.
#ifndef HEAPGAUGE_AGENT_TRACE_STACK_MEMO_H_
#define HEAPGAUGE_AGENT_TRACE_STACK_MEMO_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/sys/os.h"

namespace heapgauge::agent {

class StackMemo {
 public:
  // Without memory it finds nothing.
  void Start() {
    if (sets_ == nullptr) sets_ = static_cast<Set*>(os::MapPrivate(kSets * sizeof(Set)));
  }

  // 0 if it is not there. `key` is not 0, and all its bits are well mixed.
  uint32_t Find(uint64_t key) const {
    if (sets_ == nullptr) return 0;
    for (const Entry& entry : SetOf(key).entry) {
      if (entry.key.load(std::memory_order_acquire) != key) continue;
      const uint64_t value = entry.value.load(std::memory_order_relaxed);
      if (value >> 32 == (key & UINT32_MAX)) return static_cast<uint32_t>(value);
    }
    return 0;
  }

  void Keep(uint64_t key, uint32_t number) {
    if (sets_ == nullptr) return;
    Set& set = SetOf(key);
    Entry* place = &set.entry[number % kWays];
    for (Entry& entry : set.entry) {
      if (entry.key.load(std::memory_order_relaxed) == 0) place = &entry;
    }
    place->key.store(0, std::memory_order_relaxed);
    place->value.store((key & UINT32_MAX) << 32 | number, std::memory_order_release);
    place->key.store(key, std::memory_order_release);
  }

  size_t private_bytes() const { return sets_ == nullptr ? 0 : kSets * sizeof(Set); }

 private:
  static constexpr uint32_t kSetBits = 14;
  static constexpr uint32_t kSets = 1 << kSetBits;  // 65,536 stacks, 1 MiB
  static constexpr uint32_t kWays = 4;

  struct Entry {
    std::atomic<uint64_t> key;    // 0: empty
    std::atomic<uint64_t> value;  // the number, and above it the lower half of the key
  };
  struct Set {
    Entry entry[kWays];
  };
  static_assert(sizeof(Set) == 64);

  Set& SetOf(uint64_t key) const { return sets_[key >> (64 - kSetBits)]; }

  Set* sets_ = nullptr;
};

}  // namespace heapgauge::agent

#endif  // HEAPGAUGE_AGENT_TRACE_STACK_MEMO_H_
