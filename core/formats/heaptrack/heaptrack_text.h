// Small conversions that reading and importing heaptrack files share. Pure functions.
#pragma once

#include <algorithm>
#include <cstdint>

namespace heapgauge {

// No run is longer than a century; what says so is cut to that.
inline uint64_t MillisecondsToNs(uint64_t milliseconds) {
  constexpr uint64_t kCentury = uint64_t{100} * 366 * 86400 * 1000;
  return std::min(milliseconds, kCentury) * 1'000'000;
}

}  // namespace heapgauge
