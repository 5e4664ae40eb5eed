// How far a run had come at a moment: by time, and by work, which is what the program as a whole
// had allocated by then. A server that sleeps at night makes most of its blocks by day; by work its
// births are even. A moment in which far more is allocated than at other times, as by one very
// large block, counts as a busy one and no more.
//
// Read-only once made.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/model/profile.h"

namespace heapgauge::leaks {

class RunClock {
 public:
  // From `from_ns` (the start, or the last reset) to `now_ns`. Points may be few or none: then work
  // is even.
  RunClock(uint64_t from_ns, uint64_t now_ns, const std::vector<TimelinePoint>& timeline);
  // Of a recording: since it was reset; of a forked child since its first sign of life.
  RunClock(const Profile& profile, uint64_t now_ns);

  uint64_t from_ns() const { return from_ns_; }
  uint64_t now_ns() const { return now_ns_; }
  uint64_t length_ns() const { return now_ns_ - from_ns_; }

  // 0 at the start, 1 now.
  double ByTime(uint64_t at_ns) const;
  double ByWork(uint64_t at_ns) const;

 private:
  uint64_t from_ns_ = 0;
  uint64_t now_ns_ = 0;
  std::vector<std::pair<uint64_t, double>> work_;  // time and share, both ascending; empty: even
};

}  // namespace heapgauge::leaks
