#include "agent/table/live_table.h"

#include <cstring>

#include "agent/sys/os_memory.h"
#include "agent/table/gauge_file.h"
#include "agent/table/sample_filter.h"

std::atomic<uint8_t> hg_filter[1 << HG_FILTER_BITS];
std::atomic<uint8_t> hg_pool_filter[1 << HG_POOL_FILTER_BITS];

namespace heapgauge::agent {

std::atomic<uint8_t>& LiveTable::CounterOf(uintptr_t address) const {
  return of_pools_ ? sample_filter::PoolCounterOf(address) : sample_filter::CounterOf(address);
}

wire::LiveRecord* LiveTable::Private(uint32_t index) const {
  wire::LiveRecord* chunk = chunks_[index / kPerChunk].load(std::memory_order_acquire);
  return chunk == nullptr ? nullptr : chunk + index % kPerChunk;
}

wire::LiveRecord* LiveTable::MakePrivate(uint32_t index) {
  if (index / kPerChunk >= GaugeFile::kMaxOrdinals) return nullptr;
  if (wire::LiveRecord* record = Private(index)) return record;
  auto* fresh = static_cast<wire::LiveRecord*>(os::MapPrivate(wire::kSegmentBytes));
  if (fresh == nullptr) return nullptr;
  wire::LiveRecord* none = nullptr;
  if (!chunks_[index / kPerChunk].compare_exchange_strong(none, fresh)) {
    os::Unmap(fresh, wire::kSegmentBytes);
  }
  return Private(index);
}

uint32_t LiveTable::TakeFree() {
  uint64_t head = free_list_.load(std::memory_order_acquire);
  while (true) {
    const uint32_t index = static_cast<uint32_t>(head);
    if (index == 0) return 0;
    // May be stale by the time it is read; the change counter makes the exchange fail then.
    const uint64_t state = std::atomic_ref(Private(index)->state).load(std::memory_order_relaxed);
    const uint64_t next = state >= kFree ? state - kFree : 0;
    const uint64_t changed = (head >> 32) + 1;
    if (free_list_.compare_exchange_weak(head, changed << 32 | (next & 0xffffffff))) return index;
  }
}

void LiveTable::GiveBack(uint32_t index) {
  uint64_t head = free_list_.load(std::memory_order_relaxed);
  while (true) {
    std::atomic_ref(Private(index)->state).store((head & 0xffffffff) + kFree);
    const uint64_t changed = (head >> 32) + 1;
    if (free_list_.compare_exchange_weak(head, changed << 32 | index)) return;
  }
}

void LiveTable::Publish(GaugeFile* file, uint32_t index, const wire::LiveRecord& record) {
  auto* shared = file->Existing<wire::LiveRecord>(kind(), index);
  if (shared == nullptr) return;
  // A record is used again and again: with a number that no record ever had, a reader cannot take
  // two halves of different blocks for one.
  const uint64_t sequence = (published_.fetch_add(1, std::memory_order_relaxed) + 1) * 4;
  std::atomic_ref<uint64_t> state(shared->state);
  state.store(sequence + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  memcpy(reinterpret_cast<char*>(shared) + sizeof shared->state,
         reinterpret_cast<const char*>(&record) + sizeof record.state,
         sizeof record - sizeof record.state);
  state.store(sequence + 2, std::memory_order_release);
  wire::Header& header = *file->header();
  RaiseTo(of_pools_ ? header.pool_live_count : header.live_count, index + 1);
}

bool LiveTable::Add(GaugeFile* file, const wire::LiveRecord& record, wire::Loss* loss) {
  uint32_t index = TakeFree();
  if (index == 0) {
    const bool full = records_.load() + 1 >= GaugeFile::kMaxOrdinals * kPerChunk;
    *loss = full ? wire::Loss::kTableFull : wire::Loss::kNoRoom;
    // The private memory first, so that no index is used up while there is none.
    if (MakePrivate(records_.load(std::memory_order_relaxed) + 1) == nullptr ||
        file->TakeNext<wire::LiveRecord>(kind(), &records_, &index, loss) == nullptr ||
        MakePrivate(index) == nullptr) {
      return false;
    }
  } else if (file->At<wire::LiveRecord>(kind(), index, loss) == nullptr) {
    // Free since before a fork: the child's own file may not have come so far yet.
    GiveBack(index);
    return false;
  }
  wire::LiveRecord& copy = *Private(index);
  const uint64_t state = copy.state;
  copy = record;
  copy.state = state;
  // The filter first: once the program has the block it may free it, and then it must be found.
  sample_filter::CountUp(CounterOf(record.address));
  if (!index_.Insert(KeyOf(record.address, PoolOf(record)), index)) {
    sample_filter::CountDown(CounterOf(record.address));
    GiveBack(index);
    *loss = wire::Loss::kTableFull;
    return false;
  }
  std::atomic_ref(copy.state).store(kInUse, std::memory_order_release);
  Publish(file, index, record);
  return true;
}

bool LiveTable::Remove(GaugeFile* file, uintptr_t address, wire::LiveRecord* record,
                       uint32_t pool) {
  uint32_t index;
  if (address < 2 || !index_.Remove(KeyOf(address, pool), &index)) return false;
  *record = *Private(index);
  sample_filter::CountDown(CounterOf(address));
  if (file != nullptr) {
    if (auto* shared = file->Existing<wire::LiveRecord>(kind(), index)) {
      std::atomic_ref(shared->state).store(0, std::memory_order_release);
    }
  }
  GiveBack(index);
  return true;
}

bool LiveTable::Find(uintptr_t address, wire::LiveRecord* record) const {
  uint32_t index;
  if (address < 2 || !index_.Find(address, &index)) return false;
  *record = *Private(index);
  return record->address == address;
}

void LiveTable::CopyTo(GaugeFile* file) {
  const uint32_t count = records_.load(std::memory_order_relaxed);
  for (uint32_t i = 1; i <= count; ++i) {
    wire::LiveRecord* record = Private(i);
    if (record == nullptr || record->state != kInUse) continue;
    record->flags |= wire::kLiveInherited;
    wire::Loss ignored;
    if (file->At<wire::LiveRecord>(kind(), i, &ignored) == nullptr) {
      wire::LiveRecord dropped;
      Remove(nullptr, record->address, &dropped, PoolOf(*record));
      continue;
    }
    Publish(file, i, *record);
  }
}

void LiveTable::Prepare() {
  index_.Prepare();
  const uint32_t next = records_.load(std::memory_order_relaxed) + 1;
  for (uint32_t chunk = 0; chunk < 4; ++chunk) MakePrivate(next + chunk * kPerChunk);
}

size_t LiveTable::private_bytes() const {
  size_t bytes = index_.private_bytes();
  for (const auto& chunk : chunks_) {
    if (chunk.load(std::memory_order_relaxed) == nullptr) break;
    bytes += wire::kSegmentBytes;
  }
  return bytes;
}

}  // namespace heapgauge::agent
