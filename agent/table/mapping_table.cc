#include "agent/table/mapping_table.h"

#include <cstring>

#include "agent/sys/os.h"
#include "agent/sys/os_memory.h"
#include "agent/table/gauge_file.h"

namespace heapgauge::agent {
namespace {

using wire::SegmentKind;

constexpr int kNaps = 40;
constexpr uint64_t kNapNs = 50'000;

uint64_t EndOf(const wire::MappingRecord& record) { return record.address + record.length; }

}  // namespace

bool MappingTable::Begin() {
  // The holder may have lost its processor. A mapping is worth some patience: a call that cannot be
  // noted leaves the table wrong.
  bool locked = lock_.LockSoon();
  for (int i = 0; !locked && i < kNaps && os::Nap(kNapNs); ++i) locked = lock_.Lock();
  if (!locked) return false;
  if (ranges_ == nullptr) {
    ranges_ = static_cast<Range*>(os::MapPrivate(kPrivateBytes));
    free_slots_ = reinterpret_cast<uint32_t*>(ranges_ + kMaxRanges);
  }
  if (ranges_ == nullptr) {
    lock_.Unlock();
    return false;
  }
  changing_.store(true, std::memory_order_relaxed);
  return true;
}

void MappingTable::End() {
  changing_.store(false, std::memory_order_relaxed);
  lock_.Unlock();
}

// The first range that ends behind the address.
uint32_t MappingTable::FirstBehind(uint64_t address) const {
  uint32_t low = 0;
  uint32_t high = count();
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (EndOf(ranges_[middle].record) > address) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

void MappingTable::Publish(GaugeFile* file, uint32_t at) {
  Range& range = ranges_[at];
  if (file == nullptr || range.slot == 0) return;
  auto* shared = file->Existing<wire::MappingRecord>(SegmentKind::kMappings, range.slot);
  if (shared == nullptr) return;
  WriteSequenced(*shared, [&](wire::MappingRecord& out) {
    memcpy(reinterpret_cast<char*>(&out) + sizeof out.state,
           reinterpret_cast<const char*>(&range.record) + sizeof out.state,
           sizeof out - sizeof out.state);
  });
  RaiseTo(file->header()->mapping_count, range.slot + 1);
}

bool MappingTable::Insert(GaugeFile* file, uint32_t at, const wire::MappingRecord& record) {
  const uint32_t ranges = count();
  if (ranges >= kMaxRanges || at > ranges) return false;
  uint32_t slot = 0;
  const uint32_t free = free_count_.load(std::memory_order_relaxed);
  if (free != 0 && free <= kMaxRanges) {
    slot = free_slots_[free - 1];
    free_count_.store(free - 1, std::memory_order_relaxed);
  } else if (file != nullptr) {
    wire::Loss ignored;
    if (file->TakeNext<wire::MappingRecord>(SegmentKind::kMappings, &slots_, &slot, &ignored) ==
        nullptr) {
      return false;
    }
  }
  memmove(ranges_ + at + 1, ranges_ + at, (ranges - at) * sizeof(Range));
  ranges_[at] = {record, slot, 0};
  count_.store(ranges + 1, std::memory_order_relaxed);
  Publish(file, at);
  return true;
}

void MappingTable::Erase(GaugeFile* file, uint32_t at) {
  const uint32_t ranges = count();
  if (at >= ranges) return;
  const uint32_t slot = ranges_[at].slot;
  if (slot != 0) {
    if (file != nullptr) {
      if (auto* shared = file->Existing<wire::MappingRecord>(SegmentKind::kMappings, slot)) {
        std::atomic_ref(shared->state).store(0, std::memory_order_release);
      }
    }
    const uint32_t free = free_count_.load(std::memory_order_relaxed);
    if (free < kMaxRanges) {
      free_slots_[free] = slot;
      free_count_.store(free + 1, std::memory_order_relaxed);
    }
  }
  memmove(ranges_ + at, ranges_ + at + 1, (ranges - 1 - at) * sizeof(Range));
  count_.store(ranges - 1, std::memory_order_relaxed);
}

// Nothing of [start, end) is left. False if a range that had to become two could not.
bool MappingTable::Cut(GaugeFile* file, uint64_t start, uint64_t end, OnGone on_gone,
                       void* context) {
  bool kept_all = true;
  for (uint32_t at = FirstBehind(start); at < count() && ranges_[at].record.address < end;) {
    wire::MappingRecord& record = ranges_[at].record;
    const uint64_t from = record.address > start ? record.address : start;
    const uint64_t to = EndOf(record) < end ? EndOf(record) : end;
    const bool whole = from == record.address && to == EndOf(record);
    if (on_gone != nullptr) on_gone(context, {record.stack, to - from, whole});
    if (whole) {
      Erase(file, at);
      continue;
    }
    if (from == record.address) {
      record.length = EndOf(record) - to;
      record.address = to;
      Publish(file, at);
    } else {
      wire::MappingRecord behind = record;
      behind.length = EndOf(record) - to;
      behind.address = to;
      record.length = from - record.address;
      Publish(file, at);
      if (behind.length != 0) kept_all &= Insert(file, at + 1, behind);
    }
    ++at;
  }
  return kept_all;
}

bool MappingTable::Add(GaugeFile* file, const wire::MappingRecord& record, OnGone on_gone,
                       void* context) {
  if (!Begin()) return false;
  Cut(file, record.address, EndOf(record), on_gone, context);
  const bool kept = Insert(file, FirstBehind(record.address), record);
  End();
  return kept;
}

bool MappingTable::Remove(GaugeFile* file, uint64_t address, uint64_t length,
                          wire::MappingRecord* first, OnGone on_gone, void* context) {
  *first = {};
  if (count() == 0) return true;
  if (!Begin()) return false;
  const uint32_t at = FirstBehind(address);
  if (at < count() && ranges_[at].record.address < address + length) {
    *first = ranges_[at].record;
    const uint64_t end = EndOf(*first) < address + length ? EndOf(*first) : address + length;
    if (first->address < address) first->address = address;
    first->length = end - first->address;
  }
  const bool kept = Cut(file, address, address + length, on_gone, context);
  End();
  return kept;
}

void MappingTable::CopyTo(GaugeFile* file) {
  lock_.Unlock();
  if (changing_.load(std::memory_order_relaxed)) {
    // A thread that is not here was changing it.
    changing_.store(false, std::memory_order_relaxed);
    count_.store(0);
    free_count_.store(0);
    slots_.store(0);
    return;
  }
  free_count_.store(0);
  slots_.store(0);
  for (uint32_t i = 0; i < count(); ++i) {
    uint32_t slot = 0;
    wire::Loss ignored;
    ranges_[i].record.flags |= wire::kMappingInherited;
    ranges_[i].slot = file->TakeNext<wire::MappingRecord>(SegmentKind::kMappings, &slots_, &slot,
                                                          &ignored) == nullptr
                          ? 0
                          : slot;
    Publish(file, i);
  }
}

}  // namespace heapgauge::agent
