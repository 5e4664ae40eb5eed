// Brings blocks into the order that checks need. A pure function.
#pragma once

#include <cstdint>
#include <vector>

#include "core/leaks/scan/known_blocks.h"

namespace heapgauge::leaks {

// Sorts by address and drops the older one of two that overlap: a free that nobody saw leaves its
// block behind, and another one gets its place. Address 0 is that of blocks whose place is not
// known: all of these stay. Returns how many were dropped.
uint64_t MakeDistinct(std::vector<KnownBlock>* blocks);

}  // namespace heapgauge::leaks
