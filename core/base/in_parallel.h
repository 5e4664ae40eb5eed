// Work that falls into parts which do not depend on each other, on as many threads as there are
// processors.
//
// How many parts there are must not depend on the machine where sums of them are rounded: then the
// figures are the same everywhere.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "core/base/try_thread.h"

namespace heapgauge {

// Parts of a list in which each has about `each` elements: one if it is short, kMostParts at the
// most.
inline constexpr size_t kMostParts = 8;
inline size_t PartsOf(size_t count, size_t each) {
  return std::clamp<size_t>(count / each, 1, kMostParts);
}
// Where part `part` of `parts` begins in a list of `count`; the last one ends where part `parts`
// would begin.
inline size_t BeginOfPart(size_t count, size_t part, size_t parts) { return count * part / parts; }

// Calls work(part) once for each part from 0 on, in any order, and returns when all are done.
// Without threads the caller does it all.
template <typename Work>
void InParallel(size_t parts, const Work& work) {
  std::atomic<size_t> next{0};
  const auto take = [&] {
    for (size_t part = next++; part < parts; part = next++) work(part);
  };
  std::vector<std::thread> others;
  const size_t threads = std::min<size_t>(parts, std::thread::hardware_concurrency());
  others.reserve(threads);
  for (size_t i = 1; i < threads; ++i) others.push_back(TryThread(take));
  take();
  for (std::thread& other : others) {
    if (other.joinable()) other.join();
  }
}

}  // namespace heapgauge
