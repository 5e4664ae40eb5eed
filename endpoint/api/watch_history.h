// What was seen of a process each time that somebody looked at it: a past for processes whose gauge
// file has none, or does not know resident memory and the limit of the cgroup.
//
// Bounded: when it is full every second look is forgotten, and from then on looks are taken half as
// often. Threads: any number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/fold/timeline.h"
#include "endpoint/base/process.h"

namespace heapgauge::endpoint::api {

class WatchHistory {
 public:
  static constexpr size_t kMost = 2048;
  static constexpr uint64_t kLeastNs = 500'000'000;  // between two looks, at first

  struct Look {
    uint64_t time_ns = 0;  // since the recording began
    uint64_t live_bytes = 0;
    MemoryNow memory;
  };

  // Whether it is time for another one.
  bool IsDue(uint64_t time_ns) const;
  void Add(const Look& look);
  std::vector<Look> looks() const;

  // Points where nobody noted one: `points` are those of the gauge file.
  std::vector<TimelinePoint> Complete(std::vector<TimelinePoint> points) const;
  // Memory that only the looks know. What was seen holds until the next look.
  void AddMemory(Timeline* timeline) const;

 private:
  mutable std::mutex mutex_;
  std::vector<Look> looks_;  // in order of time
  uint64_t least_ns_ = kLeastNs;
};

}  // namespace heapgauge::endpoint::api
