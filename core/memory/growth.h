// How fast a program grows, from its timeline: the slope of a straight line through the last
// points. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/profile.h"

namespace heapgauge {

struct Growth {
  double bytes_per_second = 0;
  double seconds = 0;        // the points span this long; 0: too few points to tell
  bool of_resident = false;  // else of live bytes

  bool known() const { return seconds > 0; }
};

// Over the last `window_ns`; at least five points over five seconds are needed.
Growth GrowthOf(const std::vector<TimelinePoint>& timeline,
                uint64_t window_ns = 120'000'000'000ull);

}  // namespace heapgauge
