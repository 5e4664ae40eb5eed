// Puts lost blocks into groups as memcheck does. Each block that is not yet in a group, in the
// order of addresses, leads one, and what it reaches among those that are in none joins it. A
// leader that a later one reaches joins that one's group with all its own. So groups never overlap,
// a leader is lost definitely, and the rest of a group indirectly; in a circle the first one leads.
//
// Pure function; linear in blocks and edges.
#pragma once

#include <vector>

#include "core/leaks/scan/block_bits.h"
#include "core/leaks/scan/edge_list.h"
#include "core/leaks/scan/verdict.h"

namespace heapgauge::leaks {

// The kind of blocks that are `lost` is kDefinite; those of them that are in the group of another
// become kIndirect. `edges` has at least all pointers of lost blocks to lost blocks.
void PutIntoCliques(const EdgeList& edges, const BlockBits& lost, std::vector<Verdict>* verdicts);

}  // namespace heapgauge::leaks
