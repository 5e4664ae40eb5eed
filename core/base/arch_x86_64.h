// x86-64 for arch.h, which has the contracts.
#pragma once

#include <x86intrin.h>

#include <cstdint>

#define HG_COUNTS_BITS __attribute__((target("popcnt")))

namespace heapgauge::arch {

inline constexpr char kCycleClockSource[] = "tsc";

inline uint64_t CycleCounter() { return __rdtsc(); }

inline bool HasBitCount() { return __builtin_cpu_supports("popcnt") != 0; }

inline bool HasFusedMultiply() { return __builtin_cpu_supports("fma") != 0; }

}  // namespace heapgauge::arch
