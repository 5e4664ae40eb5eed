// Tells for nearly every block at once that it is not a sample: one counter byte for each KiB
// of address space (HG_FILTER_FACTOR). The stubs in hooks/entries_ARCH.S test `hg_filter`
// themselves; this is the writing side.
//
// Blocks of pools have a filter of their own: they lie within blocks of the allocator, whose frees
// they must not slow down.
//
// A counter that reaches 255 stays there: its blocks are then always looked up, never missed.
// Lock-free, allocation-free, async-signal-safe. Assembly includes this for the two numbers.
#pragma once

// One counter byte for each KiB of address space, 256 MiB around. Neighbouring blocks have
// neighbouring counters, so that a program's own locality keeps the filter in its cache: one line
// of it covers 64 KiB of heap. Finer counters would send fewer frees past a sample's neighbours to
// the slow path (now 1 in 500 at 512 KiB) and miss the cache more often, which cost redis a per
// cent. The factor shifts the upper bits of the address out, in one instruction less than a mask
// would take.
#define HG_FILTER_BITS 18
#define HG_FILTER_FACTOR 0x10
#define HG_POOL_FILTER_BITS 16

#ifndef __ASSEMBLER__

#include <atomic>
#include <cstdint>

// Zero pages until used.
extern "C" __attribute__((visibility("hidden"))) std::atomic<uint8_t>
    hg_filter[1 << HG_FILTER_BITS];
extern "C" __attribute__((visibility("hidden"))) std::atomic<uint8_t>
    hg_pool_filter[1 << HG_POOL_FILTER_BITS];

namespace heapgauge::agent::sample_filter {

inline std::atomic<uint8_t>& CounterOf(uintptr_t address) {
  const uint32_t hash = static_cast<uint32_t>(address) * uint32_t{HG_FILTER_FACTOR};
  return hg_filter[hash >> (32 - HG_FILTER_BITS)];
}

inline std::atomic<uint8_t>& PoolCounterOf(uintptr_t address) {
  return hg_pool_filter[address * 0x9E3779B97F4A7C15 >> (64 - HG_POOL_FILTER_BITS)];
}

inline void CountUp(std::atomic<uint8_t>& counter) {
  uint8_t value = counter.load(std::memory_order_relaxed);
  while (value != 255 && !counter.compare_exchange_weak(value, static_cast<uint8_t>(value + 1))) {
  }
}

inline void CountDown(std::atomic<uint8_t>& counter) {
  uint8_t value = counter.load(std::memory_order_relaxed);
  while (value != 255 && value != 0 &&
         !counter.compare_exchange_weak(value, static_cast<uint8_t>(value - 1))) {
  }
}

}  // namespace heapgauge::agent::sample_filter

#endif  // __ASSEMBLER__
