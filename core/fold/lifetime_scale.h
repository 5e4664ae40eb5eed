// The two scales that sizes and lifetimes are counted on. Sizes by powers of two, lifetimes by
// powers of ten and then by what people say: a minute, ten, an hour. Each step of lifetimes is cut
// into finer ones, from which medians and percentiles are taken; so one count serves both.
//
// Pure functions and constant tables.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace heapgauge {

// Class c holds sizes above 2^(c-1) up to 2^c; class 0 those of 0 and 1 byte.
inline constexpr size_t kSizeClasses = 65;
constexpr size_t SizeClassOf(uint64_t size) {
  return size <= 1 ? 0 : static_cast<size_t>(std::bit_width(size - 1));
}
// The largest size of a class.
constexpr uint64_t SizeClassEnd(size_t size_class) {
  return size_class >= 64 ? UINT64_MAX : uint64_t{1} << size_class;
}

// A step of lifetimes holds those below `end_ns` that are in no step before it. The last but one
// has no end, the last is of blocks that were never freed.
struct LifetimeStep {
  uint64_t end_ns;
  const char* name;   // "<10us"
  const char* label;  // the same in five columns at the most
};
inline constexpr size_t kLifetimeSteps = 13;
inline constexpr size_t kLongestStep = kLifetimeSteps - 2;
inline constexpr size_t kNeverFreedStep = kLifetimeSteps - 1;
std::span<const LifetimeStep> LifetimeSteps();

// Fine steps: at most 15 % wide from 10 ns on. Each lies within one step.
inline constexpr size_t kFineSteps = 196;
size_t FineStepOf(uint64_t lifetime_ns);
// REQUIRES: fine < kFineSteps.
size_t StepOfFine(size_t fine);
uint64_t FineStepBegin(size_t fine);
uint64_t FineStepEnd(size_t fine);  // UINT64_MAX of the last

inline size_t LifetimeStepOf(uint64_t lifetime_ns) { return StepOfFine(FineStepOf(lifetime_ns)); }

}  // namespace heapgauge
