// From an address of a traced program to what is there: slots of live blocks, and mappings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/trace/record/live_blocks.h"

namespace heapgauge::trace {

// From the address of a live block to its slot in the BlockPool: a look-up for every event of a
// traced program. Programs use again and again what lies close together, and here that lies close
// together, too: the slots of 16 neighbouring units of 16 bytes are one line of the cache.
//
// Three steps, none of which compares anything but numbers of regions. A table finds the region of
// 128 KiB that an address is in, the region knows the line of each 256 bytes of it, and the line
// has a slot for each unit. Addresses that are no multiples of 16 are as if they were in other
// regions. Lines that have become empty are given back when most of a region's are, and regions
// likewise. Places can be looked up ahead of need, many at a time, without waiting for memory at
// each.
//
// One thread. Memory: 64 bytes for each 256 that have blocks in them, and about 1.2 KiB for each
// 128 KiB that have. When blocks go, no more than 4 KiB and the fourfold of that stay for a region.
class AddressIndex {
 public:
  static constexpr uint32_t kNoSlot = BlockPool::kNoSlot;
  // The pool must outlive it.
  explicit AddressIndex(const BlockPool* pool);
  ~AddressIndex();

  // Where an address is kept: on its way into the processor's cache from then on. It stays valid
  // while others are put in and taken out, until changes() is another.
  class Place;
  Place Prefetch(uint64_t address) const;
  uint64_t changes() const { return changes_; }
  // The slot that is there, or kNoSlot. Best some time after the place was asked for.
  static uint32_t SlotAt(const Place& place);
  // The block of that slot, if there is one, will be needed. REQUIRES: the pool is not empty.
  void PrefetchBlock(const Place& place) const;

  uint32_t Find(uint64_t address) const { return *PlaceOf(UnitOf(address)) - 1; }
  // Takes the address out; its slot, or kNoSlot.
  uint32_t Remove(uint64_t address);
  uint32_t Remove(const Place& place, uint64_t address);
  // Puts a slot in; the one that had this address before, or kNoSlot.
  uint32_t Put(uint64_t address, uint32_t slot);
  uint32_t Put(const Place& place, uint64_t address, uint32_t slot);
  size_t bytes() const;

 private:
  static constexpr int kLineBits = 4;     // of a unit: its place in the line
  static constexpr int kRegionBits = 13;  // and the line in the region above it
  static constexpr uint32_t kLines = 1 << (kRegionBits - kLineBits);
  // Slots + 1; 0 none.
  struct alignas(64) Line {
    uint32_t slots[1 << kLineBits] = {};
    bool is_empty() const;
  };
  struct Region {
    Region(uint64_t number_of_it, uint32_t room);

    uint64_t number;
    std::unique_ptr<Line[]> lines;  // the first is always empty: it is that of all that have none
    uint32_t used;                  // of them, the first included
    uint32_t capacity;
    uint32_t blocks = 0;
    uint32_t least = 1;             // with fewer blocks there is something to tidy up
    uint16_t numbers[kLines] = {};  // of its lines; 0 none

    uint32_t* PlaceOf(uint64_t unit) const {
      return &lines[numbers[LineOf(unit)]].slots[unit & ((1 << kLineBits) - 1)];
    }
  };
  // An entry of the table of regions.
  struct Entry {
    uint64_t number = 0;
    Region* region = nullptr;  // nullptr: nothing is there
  };

  // Addresses are mostly multiples of 16; what is left goes to the other end.
  static uint64_t UnitOf(uint64_t address) { return address >> 4 | address << 60; }
  static uint64_t LineOf(uint64_t unit) { return unit >> kLineBits & (kLines - 1); }
  size_t HomeOf(uint64_t number) const { return number * 0x9e3779b97f4a7c15 >> shift_; }

  // One without lines if it is not there.
  Region* Lookup(uint64_t unit) const {
    const uint64_t number = unit >> kRegionBits;
    size_t at = HomeOf(number);
    while (entries_[at].number != number || entries_[at].region == nullptr) {
      if (entries_[at].region == nullptr) return nowhere_.get();
      at = (at + 1) & (entries_.size() - 1);
    }
    return entries_[at].region;
  }
  uint32_t* PlaceOf(uint64_t unit) const { return Lookup(unit)->PlaceOf(unit); }
  [[gnu::noinline]] void AddLine(uint64_t unit);
  [[gnu::noinline]] uint32_t RemoveAfterAll(uint64_t address);
  [[gnu::noinline]] void TidyUp(Region* region);
  Region* AddRegion(uint64_t number);
  void DropEmptyRegions();
  void MakeTable(int bits);
  void Enter(Region* region);

  const BlockPool* pool_;
  std::vector<Entry> entries_;  // by number, the next place if it is taken; a power of two
  int shift_ = 0;
  size_t regions_ = 0;
  size_t emptied_ = 0;  // how often a region lost its last block since they were looked through
  uint64_t changes_ = 0;
  std::unique_ptr<Region> nowhere_;
};

class AddressIndex::Place {
 public:
  Place() = default;  // nowhere

 private:
  friend AddressIndex;
  // Whether the address had a line: if not, the place is one of the line that is always empty.
  bool has_line() const {
    return static_cast<size_t>(slot_ - region_->lines[0].slots) >= (size_t{1} << kLineBits);
  }

  Region* region_ = nullptr;
  uint32_t* slot_ = nullptr;
};

inline AddressIndex::Place AddressIndex::Prefetch(uint64_t address) const {
  const uint64_t unit = UnitOf(address);
  Place place;
  place.region_ = Lookup(unit);
  place.slot_ = place.region_->PlaceOf(unit);
  __builtin_prefetch(place.slot_, 1);
  return place;
}

inline uint32_t AddressIndex::SlotAt(const Place& place) { return *place.slot_ - 1; }

// Without a branch, which would be guessed wrong for every second event.
inline void AddressIndex::PrefetchBlock(const Place& place) const {
  const uint32_t slot = SlotAt(place);
  __builtin_prefetch(&(*pool_)[slot != kNoSlot ? slot : 0], 1);
}

inline uint32_t AddressIndex::Remove(const Place& place, uint64_t address) {
  const uint32_t slot = SlotAt(place);
  if (slot == kNoSlot) [[unlikely]]
    return place.has_line() ? kNoSlot : RemoveAfterAll(address);
  *place.slot_ = 0;
  if (--place.region_->blocks < place.region_->least) [[unlikely]]
    TidyUp(place.region_);
  return slot;
}

inline uint32_t AddressIndex::Put(const Place& place, uint64_t address, uint32_t slot) {
  Place there = place;
  if (!place.has_line()) [[unlikely]] {
    AddLine(UnitOf(address));
    there = Prefetch(address);
  }
  const uint32_t before = SlotAt(there);
  *there.slot_ = slot + 1;
  there.region_->blocks += before == kNoSlot ? 1 : 0;
  return before;
}

inline uint32_t AddressIndex::Remove(uint64_t address) {
  return Remove(Prefetch(address), address);
}
inline uint32_t AddressIndex::Put(uint64_t address, uint32_t slot) {
  return Put(Prefetch(address), address, slot);
}

// The mappings of a traced program by address range, for munmap may take any part of any number of
// them. There are few of them and they change rarely, compared with blocks.
//
// One thread.
class MappingTable {
 public:
  struct Cut {
    uint32_t slot = 0;  // of the mapping that was there
    uint64_t start = 0;
    uint64_t end = 0;
    // What is left of it before and behind the part that goes; nothing where both are equal.
    uint64_t left_end = 0;     // [start, left_end)
    uint64_t right_start = 0;  // [right_start, end)
  };
  // Takes out all mappings that overlap [start, end).
  std::vector<Cut> Remove(uint64_t start, uint64_t end);
  // REQUIRES: nothing overlaps it, start < end.
  void Insert(uint64_t start, uint64_t end, uint32_t slot) { ranges_[start] = {end, slot}; }
  size_t size() const { return ranges_.size(); }

 private:
  struct Range {
    uint64_t end = 0;
    uint32_t slot = 0;
  };
  std::map<uint64_t, Range> ranges_;
};

}  // namespace heapgauge::trace
