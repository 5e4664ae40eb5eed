// Sizes and ages of blocks: the scales that they are counted on, and what live samples tell of
// them.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/fold/frames.h"
#include "core/fold/functions.h"
#include "core/model/profile.h"

namespace heapgauge {

// The two scales that sizes and lifetimes are counted on. Sizes by powers of two, lifetimes by
// powers of ten and then by what people say: a minute, ten, an hour. Each step of lifetimes is cut
// into finer ones, from which medians and percentiles are taken; so one count serves both.
//
// Pure functions and constant tables.

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

// The steps of ages are those of lifetimes without the last one.
inline constexpr size_t kAgeSteps = kLifetimeSteps - 1;

struct SampledCount {
  Estimate bytes;
  Estimate objects;
  uint64_t samples = 0;

  void Add(const SampledCount& other);
};

struct LiveSamples {
  struct Row {
    EntityId entity = kNone;
    uint32_t frame = kNone;
    SampledCount all;
    std::array<SampledCount, kAgeSteps> by_age{};
    double age_sum = 0;  // ns, weighted by bytes
    uint64_t oldest_ns = 0;

    uint64_t MeanAge() const;
  };
  struct Thread {
    uint32_t id = 0;  // 0 unknown
    SampledCount all;
  };

  SampledCount total;
  std::array<std::array<SampledCount, kAgeSteps>, kSizeClasses> cells{};
  Entities entities;
  std::vector<Row> rows;        // most bytes first
  std::vector<Thread> threads;  // the same

  SampledCount SizeClass(size_t size_class) const;
  SampledCount Age(size_t step) const;
};

// What the live samples of a profile tell about sizes, ages and threads, each figure with how sure
// it is. A sampled profile knows nothing about blocks that were freed but their sum, so this is all
// that there is about lifetimes in it.
//
// A pure function; memory for the functions that have live samples.
//
// Fails if the profile knows no single blocks.
Result<LiveSamples> CountLiveSamples(const Profile& profile, const RowFilter& filter,
                                     Granularity granularity);

}  // namespace heapgauge
