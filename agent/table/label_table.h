// Sets of labels (LabelTable), and the pools that are known by such a set (PoolTable).
//
// Lock-free, allocation-free, async-signal-safe. Zeroed memory is an empty table.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#include "agent/table/bucket_table.h"
#include "agent/table/gauge_file.h"
#include "wire/gauge_format.h"

namespace heapgauge::agent {

// A label as the program gave it, cut to what a record holds: not within a UTF-8 character.
struct LabelText {
  LabelText(const char* key_text, const char* value_text);
  const char* key;
  const char* value;
  uint16_t key_bytes;
  uint16_t value_bytes;
};

// Numbers sets of labels and writes them into the gauge file, once each.
//
// A set is its parent and one label more, so the sets form a trie that grows at its leaves. A
// thread's current set is one number (sys/thread_state.h), and so is the set of a stack. Sets are
// found by a seeded hash in a private index, and compared by their private copies. They are never
// forgotten: a label is meant for values of a few kinds, such as the name of a handler, and when
// all numbers are used there are no new sets.
//
// Two threads that meet the same new set at once may number it twice; readers compare texts.
class LabelTable {
 public:
  // `seed`: so that nobody can choose labels that collide.
  void Start(uint64_t seed) { seed_ = seed; }

  // The set of `parent` with this label on top, or `parent` itself where the label is in force
  // already; 0 if there is no such set yet.
  uint32_t Find(uint32_t parent, const LabelText& label, uint16_t flags = 0) const;
  // Adds the set that Find did not find; 0 if there is no room, or `parent` is too deep.
  uint32_t Add(GaugeFile* file, uint32_t parent, const LabelText& label, uint16_t flags = 0);

  // What a set consists of; nullptr if there is no such set.
  const wire::LabelRecord* Get(uint32_t set) const;

  // Writes all sets into a new file: for a forked child.
  void CopyTo(GaugeFile* file) const;

  void Prepare();
  size_t private_bytes() const;

 private:
  static constexpr uint32_t kPerChunk = wire::RecordsPerSegment(sizeof(wire::LabelRecord));
  static constexpr uint32_t kChunks = (wire::kMaxLabelSets + 1) / kPerChunk;
  static_assert((wire::kMaxLabelSets + 1) % kPerChunk == 0);

  uint64_t Hash(uint32_t parent, const LabelText& label, uint16_t flags) const;
  bool InForce(uint32_t set, const LabelText& label) const;
  wire::LabelRecord* Private(uint32_t set) const;
  wire::LabelRecord* MakePrivate(uint32_t set);
  static void Publish(const wire::LabelRecord& record, wire::LabelRecord* shared);

  uint64_t seed_ = 0;
  BucketTable index_;
  std::atomic<uint32_t> count_;  // taken so far, without set 0
  std::atomic<wire::LabelRecord*> chunks_[kChunks];
};

// The pools that the program has named: a number for each, by which it reports blocks.
//
// A pool is known by the set of labels pool=NAME, where its name is kept.
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
