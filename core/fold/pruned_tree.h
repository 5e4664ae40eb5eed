// The part of a call tree that is worth showing: the heavy branches, with figures, and for each
// node how much was folded away below it.
//
// Figures with intervals are kept for these nodes only, so that a tree of a million nodes stays
// small. Pure; time is linear in the call tree, but for sorting children.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/fold/call_tree.h"
#include "core/fold/functions.h"

namespace heapgauge {

struct PrunedTree {
  struct Node {
    uint32_t parent = kNone;     // in this list; a smaller index
    uint32_t in_tree = 0;        // index into CallTree::nodes
    size_t depth = 0;            // of the root: 0
    size_t children = 0;         // that are in this list
    size_t folded = 0;           // branches that are not, though they hold something
    double folded_value = 0;     // what these hold, in terms of the sort key
    HeapFigures figures;         // of the node and all below it
    HeapFigures folded_figures;  // of the branches folded below it
  };
  std::vector<Node> nodes;  // in the order of a walk, the heaviest child first; the root is first
};

struct PruneOptions {
  SortKey sort = SortKey::kLive;  // not kAge: ages are no sums
  double least = 0;               // share of the root's value; branches below are folded
  size_t depth = 0;               // 0 no limit
  size_t max_nodes = 1000;
};

PrunedTree Prune(const CallTree& tree, const std::vector<HeapFigures>& row_figures,
                 const PruneOptions& options);

}  // namespace heapgauge
