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

#include <cstdint>
#include <vector>

#include "core/fold/entities.h"
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

}  // namespace heapgauge
