// The pools that the program has named: a number for each, by which it reports blocks.
//
// A pool is known by the set of labels pool=NAME (table/label_table.h), where its name is kept.
// Lock-free, allocation-free, async-signal-safe. Zeroed memory is an empty table.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#include "agent/table/label_table.h"

namespace heapgauge::agent {

class PoolTable {
 public:
  static constexpr uint32_t kMaxPools = 1024;

  // The number of the pool with this set, from 1; 0 if there are too many. A name has one number
  // even if its set was numbered twice.
  uint32_t Intern(const LabelTable& labels, uint32_t set) {
    for (uint32_t i = 0; i < kMaxPools; ++i) {
      uint32_t there = sets_[i].load(std::memory_order_acquire);
      if (there == 0 && sets_[i].compare_exchange_strong(there, set)) return i + 1;
      if (there == set) return i + 1;
      const wire::LabelRecord* one = labels.Get(there);
      const wire::LabelRecord* two = labels.Get(set);
      if (one != nullptr && two != nullptr && strcmp(one->value, two->value) == 0) return i + 1;
    }
    return 0;
  }

  // The set pool=NAME; 0 if there is no such pool.
  uint32_t SetOf(int pool) const {
    const uint32_t index = static_cast<uint32_t>(pool) - 1;
    return index < kMaxPools ? sets_[index].load(std::memory_order_acquire) : 0;
  }

 private:
  std::atomic<uint32_t> sets_[kMaxPools];
};

}  // namespace heapgauge::agent
