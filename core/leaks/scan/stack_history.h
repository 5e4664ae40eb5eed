// What is known of a stack beside its live blocks: how much came and went. Growth is judged by it.
//
// Plain data.
#pragma once

#include <cstdint>
#include <vector>

namespace heapgauge::leaks {

struct StackHistory {
  // Since the recording began or was reset. Samples where it is sampled, blocks where it is exact.
  double taken = 0;
  double freed = 0;  // of these
  double allocated_bytes = 0;
  double freed_bytes = 0;
  // Of an exact trace: the least that was live in each of as many parts of equal length as there
  // are, the last one ending now. Empty where not known.
  std::vector<uint64_t> least_live;
};

}  // namespace heapgauge::leaks
