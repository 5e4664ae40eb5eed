// The sampled blocks that the program has not freed: a private index by address, and the records in
// the gauge file that readers see.
//
// The private copy of each record is what the agent itself goes by; the file is only written. It is
// also the snapshot that a forked child needs: fork copies it at one instant, while the parent's
// file goes on changing.
//
// The blocks of pools have a table of this kind to themselves: one may begin where the block of the
// allocator begins that it was cut from, and so may the blocks of two pools.
//
// Lock-free, allocation-free, async-signal-safe. Zeroed memory is an empty table, of the heap.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/table/bucket_table.h"
#include "agent/table/gauge_file.h"
#include "wire/gauge_format.h"

namespace heapgauge::agent {

class LiveTable {
 public:
  // Makes this the table of pools. Before anything else.
  void HoldPools() { of_pools_ = true; }

  // Adds a block; `record.state` is ignored. REQUIRES: the address is not in the table.
  // False, with the reason in *loss, if there is no room.
  bool Add(GaugeFile* file, const wire::LiveRecord& record, wire::Loss* loss);

  // Takes the block at this address out, and its record from `file` unless that is null (a forked
  // child without a file of its own). False if the block is not a sample.
  // `pool` is that of the record's flags.
  bool Remove(GaugeFile* file, uintptr_t address, wire::LiveRecord* record, uint32_t pool = 0);

  // Copies the record of the block at this address; false if it is not a sample.
  bool Find(uintptr_t address, wire::LiveRecord* record) const;

  // Writes all blocks into a new file, marked as inherited, and takes away those it has no room
  // for.
  void CopyTo(GaugeFile* file);

  // Calls visit(const LiveRecord&) for all blocks at about this moment.
  template <typename Visit>
  void ForEach(Visit visit) const {
    const uint32_t count = records_.load(std::memory_order_acquire);
    for (uint32_t i = 1; i <= count; ++i) {
      const wire::LiveRecord* record = Private(i);
      if (record == nullptr) continue;
      if (__atomic_load_n(&record->state, __ATOMIC_ACQUIRE) == kInUse) visit(*record);
    }
  }

  // Maps private memory ahead of need, for a program that will soon allow no system calls.
  void Prepare();

  size_t private_bytes() const;

 private:
  // States of a private record; other values are the next free record's index plus kFree.
  static constexpr uint64_t kInUse = 1;
  static constexpr uint64_t kFree = 2;
  static constexpr uint32_t kPerChunk = wire::RecordsPerSegment(sizeof(wire::LiveRecord));

  // Addresses have no more than 48 bits.
  static uint64_t KeyOf(uintptr_t address, uint32_t pool) {
    return address ^ uint64_t { pool } << 48;
  }
  static uint32_t PoolOf(const wire::LiveRecord& record) {
    return record.flags >> wire::kLivePoolShift;
  }
  wire::SegmentKind kind() const {
    return of_pools_ ? wire::SegmentKind::kPoolLive : wire::SegmentKind::kLive;
  }
  std::atomic<uint8_t>& CounterOf(uintptr_t address) const;
  wire::LiveRecord* Private(uint32_t index) const;
  wire::LiveRecord* MakePrivate(uint32_t index);
  uint32_t TakeFree();
  void GiveBack(uint32_t index);
  void Publish(GaugeFile* file, uint32_t index, const wire::LiveRecord& record);

  bool of_pools_ = false;
  BucketTable index_;
  std::atomic<uint32_t> records_;    // taken so far, without record 0
  std::atomic<uint64_t> published_;  // how often a record was written into a file
  std::atomic<uint64_t> free_list_;  // head index in the low half, a change counter in the upper
  std::atomic<wire::LiveRecord*> chunks_[GaugeFile::kMaxOrdinals];
};

}  // namespace heapgauge::agent
