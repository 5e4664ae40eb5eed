// What counts in a forked child whose own blocks are all known: those of its parent are not, and
// may be what holds its own.
//
// Pure functions.
#pragma once

#include <vector>

#include "core/leaks/scan/known_blocks.h"
#include "core/leaks/scan/roots.h"

namespace heapgauge::leaks {

// All memory of the allocator that is not a known block's counts as in use: rather a leak that is
// missed than one that is none. REQUIRES: `blocks` by address.
void HoldByParentsBlocks(const std::vector<KnownBlock>& blocks, Roots* roots);

// For the notes of such a check.
inline constexpr const char* kParentsBlocksNote =
    "a forked child: known are the blocks that it allocated itself; what those of its parent point "
    "to counts as reachable, and so does what freed memory points to";

}  // namespace heapgauge::leaks
