// What encoder and decoder of a segment expect to happen next, from what they have seen of it:
// which stack follows, in which size, which block is freed, at which address the next one lies.
// What comes as expected costs next to nothing in the file. Both sides keep the same memory and
// feed it the same facts, so the rules here are part of the format.
//
// One thread. Memory: 16 bytes for each block born in the segment, 32 for each of its stacks, some
// for each thread, and 130 KiB.
#ifndef HEAPGAUGE_CORE_TRACE_FILE_EXPECTATION_H_
#define HEAPGAUGE_CORE_TRACE_FILE_EXPECTATION_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/trace/block.h"
#include "core/trace/file/segment_columns.h"

namespace heapgauge::trace {

// Of one stack of the segment.
struct alignas(32) StackMemory {
  uint32_t sizes[kRecentSizes] = {};
  uint32_t next = 0;  // stack that its thread used after it
  uint8_t replaced = 0;
  uint8_t function = 0;
  uint8_t alignment_log2 = 0;

  // kRecentSizes: not among them.
  uint32_t FindSize(uint64_t size) const {
    uint32_t found = 1U << kRecentSizes;  // a bit for each; which one it is nobody can guess
    for (uint32_t i = 0; i < kRecentSizes; ++i) found |= uint32_t{sizes[i] == size} << i;
    return static_cast<uint32_t>(std::countr_zero(found));
  }
  void AddSize(uint64_t size) {
    if (size > UINT32_MAX) return;
    sizes[replaced++ % kRecentSizes] = static_cast<uint32_t>(size);
  }
};

// Of one thread. Threads go by index + 1; 0 is the unknown one.
struct ThreadMemory {
  uint32_t stack = 0;            // of its last birth
  uint32_t youngest = kNoIndex;  // live block
  uint32_t after = kNoIndex;     // neighbours of the block it freed last, youngest left out
  uint32_t before = kNoIndex;
  uint32_t allocations = 0;
  uint64_t old_number = 0;  // of the last old block that it freed
  uint64_t old_birth_ns = 0;
};

// The live blocks of the segment, each thread's in order of birth.
class LiveBlocks {
 public:
  // Makes room for so many births.
  void Reserve(size_t births) {
    if (links_.size() < births) links_.resize(std::max(births, links_.size() * 2));
  }
  void Bear(uint32_t index, uint32_t owner, ThreadMemory* thread) {
    links_[index] = {thread->youngest, kNoIndex, owner, thread->allocations++};
    if (thread->youngest != kNoIndex) links_[thread->youngest].next = index;
    thread->youngest = index;
  }
  // `threads` has all threads, `freer` is one of them. REQUIRES: the block is live.
  void Kill(uint32_t index, ThreadMemory* threads, ThreadMemory* freer) {
    Link& link = links_[index];
    if (link.previous != kNoIndex) links_[link.previous].next = link.next;
    ThreadMemory& owner = threads[link.owner];
    if (link.next != kNoIndex) {
      links_[link.next].previous = link.previous;
    } else {
      owner.youngest = link.previous;
    }
    if (&owner != freer || link.next != kNoIndex) {
      freer->after = link.next;
      freer->before = link.previous;
    }
    link.previous = kDead;
  }
  void Prefetch(uint32_t index) const { __builtin_prefetch(&links_[index], 1); }
  bool IsLive(uint32_t index) const { return links_[index].previous != kDead; }
  // How many allocations its thread made since, if `freer` is that thread.
  uint32_t DistanceTo(uint32_t index, uint32_t freer, const ThreadMemory& memory) const {
    const Link& link = links_[index];
    return link.owner == freer ? memory.allocations - link.ordinal - 1 : kForeign;
  }

 private:
  static constexpr uint32_t kDead = kNoIndex - 1;
  struct Link {
    uint32_t previous;
    uint32_t next;
    uint32_t owner;
    uint32_t ordinal;  // which of its thread's allocations
  };
  std::vector<Link> links_;
};

// Addresses that were freed lately, by who freed them and how large they were: allocators hand them
// out again, the last one first.
class FreedAddresses {
 public:
  static constexpr uint32_t kDepth = 8;
  static_assert(kDepth <= kNewRegion);

  void Begin() {
    slots_.assign(kSlots, {});
    tops_.assign(kSlots, 0);
  }
  void Push(uint32_t thread, uint64_t room, uint64_t address) {
    const size_t slot = SlotOf(thread, room);
    slots_[slot].addresses[--tops_[slot] % kDepth] = address;
  }
  // How deep the address lies there, and takes it out; kDepth if it does not.
  uint32_t Take(uint32_t thread, uint64_t room, uint64_t address) {
    const size_t slot = SlotOf(thread, room);
    uint32_t found = 0;
    for (uint32_t i = 0; i < kDepth; ++i) {
      found |= uint32_t{slots_[slot].addresses[i] == address} << i;
    }
    if (found == 0) return kDepth;
    // From the top on, round the end.
    const auto depth =
        static_cast<uint32_t>(std::countr_zero((found | found << kDepth) >> tops_[slot] % kDepth));
    Remove(slot, depth);
    return depth;
  }
  // The address that lies so deep. REQUIRES: depth < kDepth.
  uint64_t TakeAt(uint32_t thread, uint64_t room, uint32_t depth) {
    const size_t slot = SlotOf(thread, room);
    const uint64_t address = At(slot, depth);
    Remove(slot, depth);
    return address;
  }

 private:
  static constexpr size_t kSlots = 2048;
  struct alignas(64) Slot {
    uint64_t addresses[kDepth] = {};
  };

  uint64_t& At(size_t slot, uint32_t depth) {
    return slots_[slot].addresses[(tops_[slot] + depth) % kDepth];
  }
  // Those above it move down. What lies below the lowest is not cleared, but comes round again.
  void Remove(size_t slot, uint32_t depth) {
    for (; depth > 0; --depth) At(slot, depth) = At(slot, depth - 1);
    ++tops_[slot];
  }
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

// What allocators give beyond a size.
class KnownSlack {
 public:
  void Begin() { std::fill(std::begin(slack_), std::end(slack_), uint16_t{0}); }
  uint16_t& Of(uint64_t size) { return slack_[size * 0x9e3779b97f4a7c15 >> 54]; }

 private:
  uint16_t slack_[1024];
};

struct Expectation {
  std::vector<StackMemory> stacks;
  std::vector<ThreadMemory> threads;
  LiveBlocks live;
  FreedAddresses freed;
  KnownRegions regions;
  KnownSlack slack;

  void Begin(size_t stack_count, size_t thread_count, size_t births) {
    stacks.assign(stack_count, {});
    threads.assign(thread_count, {});
    live.Reserve(births);
  }
  // For details and addresses.
  void BeginDetails() {
    freed.Begin();
    regions.Begin();
    slack.Begin();
  }
};

}  // namespace heapgauge::trace

#endif  // HEAPGAUGE_CORE_TRACE_FILE_EXPECTATION_H_
