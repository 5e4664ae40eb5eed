// The tree of calls that the stacks of a profile form: from the outermost callers down to what
// allocates, or the other way round, from what allocates to its callers.
//
// Frames are told apart by entity, so that the same tree can be had by function, line, file or
// module. A function that calls itself directly is one node. The frames at the inner end that only
// allocate are left out.
//
// Time and memory are linear in the frames of the profile's nodes; callers first, in rows times the
// depth of what is followed. Plain data afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/fold/frames.h"
#include "core/fold/functions.h"
#include "core/model/profile.h"

namespace heapgauge {

struct CallTree {
  struct Node {
    uint32_t parent = kNone;    // a smaller index; kNone for the root
    EntityId entity = kNone;    // kNone: the root, or stacks that cannot be read
    uint32_t frame = kNone;     // one of its frames
    bool lines_differ = false;  // its frames are not all at the same line
    bool inlined = false;       // all its frames are of inlined calls
    bool recursive = false;     // calls itself
  };
  std::vector<Node> nodes;            // the root is the first
  std::vector<uint32_t> node_of_row;  // where each row of the profile ends; kNone: not selected
};

// The tree from the outermost callers inwards.
CallTree BuildCallTree(const Profile& profile, const Entities& entities,
                       const std::vector<bool>& selected);

// The tree from what allocates out to its callers. It would be as large as all stacks together, so
// only nodes that hold at least `least` of the total are followed, the heaviest first, and no more
// than `max_nodes`; rows end at the last node of theirs that was made.
struct CallersOptions {
  double least = 0;
  size_t max_nodes = 1000;
  size_t depth = 0;  // 0 no limit
};
CallTree BuildCallersTree(const Profile& profile, const Entities& entities,
                          const std::vector<bool>& selected, const std::vector<double>& row_values,
                          const CallersOptions& options);

// The part of a call tree that is worth showing: the heavy branches, with figures, and for each
// node how much was folded away below it.
//
// Figures with intervals are kept for these nodes only, so that a tree of a million nodes stays
// small. Pure; time is linear in the call tree, but for sorting children.
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
