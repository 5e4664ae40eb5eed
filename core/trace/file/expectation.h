// What encoder and decoder of a segment expect to happen next, from what they have seen of it:
// which stack follows, in which size, which block is freed, at which address the next one lies.
// What comes as expected costs next to nothing in the file. Both sides keep the same memory and
// feed it the same facts, so the rules here are part of the format. They are the inner loop of
// recording: none takes more than a dozen steps.
//
// One thread. Memory: 8 bytes for each block born in the segment, 16 for each of its stacks, some
// for each thread, and 165 KiB.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/trace/file/block.h"
#include "core/trace/file/segment_columns.h"

namespace heapgauge::trace {

// What a block is like apart from where and when: size, slack, function and alignment, in one word.
// Programs have few of them. Shapes that were met lately have a place by which they are named.
class KnownShapes {
 public:
  static constexpr uint32_t kPlaces = 4096;

  // REQUIRES: the size is below 4 GiB.
  static uint64_t KeyOf(const Birth& block) {
    return block.size | uint64_t{block.slack} << 32 | uint64_t{block.function} << 48 |
           uint64_t{block.alignment_log2} << 56;
  }
  static void Apply(uint64_t key, Birth* block) {
    block->size = static_cast<uint32_t>(key);
    block->slack = static_cast<uint16_t>(key >> 32);
    block->function = static_cast<uint8_t>(key >> 48);
    block->alignment_log2 = static_cast<uint8_t>(key >> 56);
  }
  static uint32_t PlaceOf(uint64_t key) {
    return static_cast<uint32_t>(key * 0x9e3779b97f4a7c15 >> 52);
  }

  void Begin() { keys_.assign(kPlaces, 0); }
  uint64_t At(uint32_t place) const { return keys_[place]; }
  void Set(uint32_t place, uint64_t key) { keys_[place] = key; }

 private:
  std::vector<uint64_t> keys_;
};

// Of one stack of the segment.
struct StackMemory {
  static_assert(kRecentShapes == 4 && kMaxStacks <= 1U << 30);

  uint64_t shapes = 0;    // places of its last four, 16 bits each
  uint32_t next = 0;      // stack that its thread used after it
  uint32_t number_4 = 0;  // its number times 4, and which of the four is replaced next

  uint32_t number() const { return number_4 / 4; }
  void SetNumber(uint32_t number) { number_4 = number * 4; }
  // kRecentShapes: not among them.
  uint32_t Find(uint32_t place) const {
    constexpr uint64_t kOnes = 0x0001'0001'0001'0001;
    const uint64_t differing = shapes ^ place * kOnes;  // 0 where it is
    const uint64_t found = (differing - kOnes) & ~differing & kOnes << 15;
    return static_cast<uint32_t>(std::countr_zero(found)) / 16;
  }
  uint32_t At(uint32_t index) const { return shapes >> 16 * index & 0xffff; }
  // In place of the oldest.
  void Add(uint32_t place) {
    const uint32_t shift = 16 * (number_4 % kRecentShapes);
    number_4 = (number_4 & ~3U) | ((number_4 + 1) & 3);
    shapes = (shapes & ~(uint64_t{0xffff} << shift)) | uint64_t{place} << shift;
  }
};

// Of one thread. Threads go by index + 1; 0 is the unknown one.
struct ThreadMemory {
  uint32_t stack = 0;            // of its last birth
  uint32_t youngest = kNoIndex;  // block that is live, as far as this thread knows
  uint32_t freed = 0;            // the block it freed last, youngest left out
  uint32_t allocations = 0;
  uint64_t old_number = 0;  // of the last old block that it freed
  uint64_t old_birth_ns = 0;
};

// The blocks that were born in the segment, each thread's as a stack.
class BornBlocks {
 public:
  // Makes room for so many births.
  void Reserve(size_t births) {
    if (capacity_ < births) Grow(births);
  }
  void Bear(uint32_t index, ThreadMemory* thread) {
    links_[index] = {thread->youngest, thread->allocations++};
    thread->youngest = index;
  }
  // REQUIRES: the block is live.
  void Kill(uint32_t index, ThreadMemory* freer) {
    links_[index].ordinal |= kDead;
    if (index == freer->youngest) {
      freer->youngest = FirstLive(links_[index].below);
    } else {
      freer->freed = index;
    }
  }
  bool IsLive(uint32_t index) const { return (links_[index].ordinal & kDead) == 0; }
  // How many allocations its thread has made since.
  uint32_t DistanceTo(uint32_t index, const ThreadMemory& owner) const {
    return owner.allocations - links_[index].ordinal - 1;
  }
  void Prefetch(uint32_t index) const { __builtin_prefetch(&links_[index], 1); }

 private:
  static constexpr uint32_t kDead = 1U << 31;
  struct Link {
    uint32_t below;    // youngest of its thread when it was born
    uint32_t ordinal;  // which of its thread's allocations
  };
  // Each is passed over once.
  uint32_t FirstLive(uint32_t index) const {
    while (index != kNoIndex && !IsLive(index)) index = links_[index].below;
    return index;
  }

  // Memory is touched when blocks are born, not before.
  void Grow(size_t births) {
    const size_t capacity = std::max(births, capacity_ * 2);
    auto larger = std::make_unique_for_overwrite<Link[]>(capacity);
    std::copy_n(links_.get(), capacity_, larger.get());
    links_ = std::move(larger);
    capacity_ = capacity;
  }

  std::unique_ptr<Link[]> links_;
  size_t capacity_ = 0;
};

// Addresses that were freed lately, by who freed them and how large they were: allocators hand out
// again what came back last.
class FreedAddresses {
 public:
  void Begin() {
    slots_.assign(kSlots, {});
    tops_.assign(kSlots, 0);
  }
  void Push(uint32_t thread, uint64_t room, uint64_t address) {
    const size_t slot = SlotOf(thread, room);
    slots_[slot].addresses[--tops_[slot] % kDepth] = address;
  }
  // True if it was the last one, and takes it out.
  bool Take(uint32_t thread, uint64_t room, uint64_t address) {
    const size_t slot = SlotOf(thread, room);
    if (slots_[slot].addresses[tops_[slot] % kDepth] != address) return false;
    ++tops_[slot];
    return true;
  }
  // Takes the last one out.
  uint64_t TakeLast(uint32_t thread, uint64_t room) {
    const size_t slot = SlotOf(thread, room);
    return slots_[slot].addresses[tops_[slot]++ % kDepth];
  }

 private:
  static constexpr size_t kSlots = 2048;
  static constexpr uint32_t kDepth = 8;  // what lies below is lost
  struct alignas(64) Slot {
    uint64_t addresses[kDepth] = {};
  };
  static size_t SlotOf(uint32_t thread, uint64_t room) {
    return (room * 0x9e3779b97f4a7c15 + thread * 0xc2b2ae3d27d4eb4f) >> 53;
  }

  std::vector<Slot> slots_;
  std::vector<uint8_t> tops_;  // where the last one lies, modulo kDepth
};

// Addresses are mostly multiples of 16: with these bits at the other end they are small numbers.
constexpr uint64_t ToUnits(uint64_t address) { return address >> 4 | address << 60; }
constexpr uint64_t FromUnits(uint64_t units) { return units << 4 | units >> 60; }

// Regions of addresses that were met, so that few bits name one.
class KnownRegions {
 public:
  void Begin() { std::fill(std::begin(regions_), std::end(regions_), UINT64_MAX); }
  static uint8_t PlaceOf(uint64_t region) { return (region ^ region >> 40) % kPlaces; }
  bool Knows(uint64_t region) const { return regions_[PlaceOf(region)] == region; }
  void Add(uint64_t region) { regions_[PlaceOf(region)] = region; }
  uint64_t At(uint8_t place) const { return regions_[place % kPlaces]; }

 private:
  static constexpr size_t kPlaces = 128;
  uint64_t regions_[kPlaces];
};

struct Expectation {
  std::vector<ThreadMemory> threads;
  KnownShapes shapes;
  BornBlocks born;
  FreedAddresses freed;
  KnownRegions regions;

  void Begin(size_t thread_count, size_t births) {
    threads.assign(thread_count, {});
    shapes.Begin();
    born.Reserve(births);
  }
  // For addresses.
  void BeginAddresses() {
    freed.Begin();
    regions.Begin();
  }
};

}  // namespace heapgauge::trace
