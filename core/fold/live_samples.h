// What the live samples of a profile tell about sizes, ages and threads, each figure with how sure
// it is. A sampled profile knows nothing about blocks that were freed but their sum, so this is all
// that there is about lifetimes in it.
//
// A pure function; memory for the functions that have live samples.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/fold/entities.h"
#include "core/fold/functions.h"
#include "core/fold/lifetime_scale.h"
#include "core/model/profile.h"

namespace heapgauge {

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

// Fails if the profile knows no single blocks.
Result<LiveSamples> CountLiveSamples(const Profile& profile, const RowFilter& filter,
                                     Granularity granularity);

}  // namespace heapgauge
