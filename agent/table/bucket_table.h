// A hash table from 64-bit keys to 32-bit values that any thread and any signal handler may use at
// any time: no lock, no tombstone, no rehashing, a bounded number of steps.
//
// A key lives in one of two buckets of eight slots: a cache line of keys. Values lie apart, so that
// what is not there costs no more than the lines of its buckets. Deleting empties the slot, and a
// lookup always reads both buckets whole, so nothing has to be kept for probing past it. When both
// are full, a level of four times the size is added; keys stay where they are, and a lookup reads
// at most two buckets of each level, the newest first.
//
// Invariants
//   1. A slot's key is kEmpty, kBusy (one thread owns the slot) or the key of a complete entry.
//   2. Only the owner of a busy slot touches its value.
//   3. Levels are only added. A zeroed BucketTable is an empty one.
// A thread that dies while it owns a slot leaves that slot unusable; nothing waits for it.
//
// Two threads that insert the same key at the same time may both succeed; callers cope.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/sys/os_memory.h"

namespace heapgauge::agent {

class BucketTable {
 public:
  // Keys 0 and 1 are not allowed.
  // False if there is no room and none can be had.
  bool Insert(uint64_t key, uint32_t value) {
    for (int attempt = 0; attempt < 2; ++attempt) {
      const uint32_t levels = levels_.load(std::memory_order_acquire);
      for (uint32_t level = levels; level-- > 0;) {
        if (InsertAt(level, key, value)) return true;
      }
      if (!AddLevel(levels)) return false;
    }
    return false;
  }

  bool Find(uint64_t key, uint32_t* value) const {
    for (uint32_t level = levels_.load(std::memory_order_acquire); level-- > 0;) {
      for (int choice = 0; choice < 2; ++choice) {
        const Place bucket = BucketOf(level, key, choice);
        for (int i = 0; i < kSlots; ++i) {
          if (bucket.keys[i].load(std::memory_order_acquire) != key) continue;
          *value = bucket.values[i];
          return true;
        }
      }
    }
    return false;
  }

  // Find or Insert will soon be called. What they read lies anywhere: several at once take no
  // longer than one.
  void Prefetch(uint64_t key) const {
    for (uint32_t level = levels_.load(std::memory_order_acquire); level-- > 0;) {
      __builtin_prefetch(BucketOf(level, key, 0).keys);
      __builtin_prefetch(BucketOf(level, key, 1).keys);
    }
  }

  // Find has not found it, and Insert will soon be called: brings the place of its value, which
  // Find does not look at.
  void PrefetchPlace(uint64_t key) const {
    const uint32_t levels = levels_.load(std::memory_order_acquire);
    if (levels != 0) __builtin_prefetch(BucketOf(levels - 1, key, 0).values, 1);
  }

  // Takes the entry out; false if there is none.
  bool Remove(uint64_t key, uint32_t* value) {
    for (uint32_t level = levels_.load(std::memory_order_acquire); level-- > 0;) {
      for (int choice = 0; choice < 2; ++choice) {
        const Place bucket = BucketOf(level, key, choice);
        for (int i = 0; i < kSlots; ++i) {
          uint64_t expected = key;
          if (bucket.keys[i].load(std::memory_order_relaxed) != key) continue;
          if (!bucket.keys[i].compare_exchange_strong(expected, kBusy)) continue;
          *value = bucket.values[i];
          bucket.keys[i].store(kEmpty, std::memory_order_release);
          return true;
        }
      }
    }
    return false;
  }

  // Makes the first level now rather than when it is needed.
  void Prepare() { AddLevel(0); }

  // There will be many entries soon. An empty table begins with a large level then: a look-up for
  // what is not there reads every level. And memory may come in large pages: keys lie anywhere, and
  // with small ones nearly every first use of a page and every look-up would go through the
  // kernel's or the processor's page tables.
  // REQUIRES: no other thread uses the table yet.
  void ExpectMany() {
    many_ = true;
    if (levels_.load(std::memory_order_relaxed) == 0) skipped_ = kSmallLevels;
  }

  size_t private_bytes() const {
    size_t bytes = 0;
    for (uint32_t i = 0; i < levels_.load(std::memory_order_relaxed); ++i) bytes += LevelBytes(i);
    return bytes;
  }

 private:
  static constexpr uint64_t kEmpty = 0;
  static constexpr uint64_t kBusy = 1;
  static constexpr int kSlots = 8;
  static constexpr uint32_t kMaxLevels = 7;    // 16 million slots in the largest
  static constexpr uint32_t kFirstBits = 9;    // 512 buckets, 4,096 slots, 48 KiB
  static constexpr uint32_t kSmallLevels = 3;  // the next one has 262,144 slots, 3 MiB

  static constexpr size_t kLargePage = size_t{2} << 20;

  using Key = std::atomic<uint64_t>;
  static constexpr size_t kSlotBytes = sizeof(Key) + sizeof(uint32_t);
  struct Place {
    Key* keys;
    uint32_t* values;
  };

  uint32_t BucketBits(uint32_t level) const { return kFirstBits + 2 * (skipped_ + level); }
  size_t SlotCount(uint32_t level) const { return size_t{kSlots} << BucketBits(level); }
  size_t LevelBytes(uint32_t level) const { return kSlotBytes * SlotCount(level); }

  Place BucketOf(uint32_t level, uint64_t key, int choice) const {
    uint64_t hash = key * 0x9E3779B97F4A7C15;
    hash ^= hash >> 29;
    hash *= choice == 0 ? 0xBF58476D1CE4E5B9 : 0x94D049BB133111EB;
    const size_t first = kSlots * (hash >> (64 - BucketBits(level)));
    Key* const keys = level_[level].load(std::memory_order_acquire);
    return {keys + first, reinterpret_cast<uint32_t*>(keys + SlotCount(level)) + first};
  }

  bool InsertAt(uint32_t level, uint64_t key, uint32_t value) {
    for (int choice = 0; choice < 2; ++choice) {
      const Place bucket = BucketOf(level, key, choice);
      for (int i = 0; i < kSlots; ++i) {
        uint64_t expected = kEmpty;
        if (bucket.keys[i].load(std::memory_order_relaxed) != kEmpty) continue;
        if (!bucket.keys[i].compare_exchange_strong(expected, kBusy)) continue;
        bucket.values[i] = value;
        bucket.keys[i].store(key, std::memory_order_release);
        return true;
      }
    }
    return false;
  }

  // Adds level number `levels`, unless another thread did. False if that is not possible.
  bool AddLevel(uint32_t levels) {
    if (levels_.load(std::memory_order_acquire) > levels) return true;
    if (skipped_ + levels == kMaxLevels) return false;
    auto* fresh = static_cast<Key*>(os::MapPrivate(LevelBytes(levels)));
    if (fresh == nullptr) return false;
    if (many_ && LevelBytes(levels) >= kLargePage) {
      os::PreferLargePages(fresh, LevelBytes(levels));
    }
    Key* none = nullptr;
    if (!level_[levels].compare_exchange_strong(none, fresh)) os::Unmap(fresh, LevelBytes(levels));
    uint32_t expected = levels;
    levels_.compare_exchange_strong(expected, levels + 1);
    return true;
  }

  std::atomic<uint32_t> levels_;
  bool many_ = false;
  uint32_t skipped_ = 0;                 // levels that would have come before the first
  std::atomic<Key*> level_[kMaxLevels];  // its keys, and behind them its values
};

}  // namespace heapgauge::agent
