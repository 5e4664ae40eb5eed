// Which rows of a profile are in which calls of a tree that somebody looks at. A look at the tree
// (stack_tree.h) adds up one figure; with this, all figures of the same calls can be had, and how
// sure they are.
//
// A pure function. From the callers inwards it is linear in the nodes of the profile, of which all
// but those that are looked at are passed by; from what allocates outwards in the rows.
#pragma once

#include <cstdint>
#include <vector>

#include "core/fold/frames.h"
#include "core/fold/groundwork.h"
#include "core/fold/stack_tree.h"

namespace heapgauge {

// For each row the innermost of view.nodes that it is in; kNone: in none, or not one of `rows`.
// `callers` as the tree was made.
std::vector<uint32_t> RowsInTree(const Groundwork& groundwork, const Entities& entities,
                                 const StackTree::View& view, const std::vector<bool>& rows,
                                 bool callers);

}  // namespace heapgauge
