// Makes the trie of stacks that the rows of a profile share.
//
// Stacks from files share their outer frames and then go their own ways, so most nodes have one
// child. That one is found without hashing; a table is needed only for the further children of
// nodes at which stacks part. A million stacks of thirty frames take about a second and 12 bytes
// for each node while building.
//
// Not synchronised. The profile must outlive the builder and its nodes must not be changed by
// others meanwhile.
#ifndef HEAPGAUGE_CORE_MODEL_STACK_BUILDER_H_
#define HEAPGAUGE_CORE_MODEL_STACK_BUILDER_H_

#include <cstdint>
#include <vector>

#include "core/model/profile.h"

namespace heapgauge {

class StackBuilder {
 public:
  // Begins with the nodes that the profile has.
  explicit StackBuilder(Profile* profile);

  // No two of the nodes that it began with have the same parent and location.
  bool distinct() const { return distinct_; }

  // The node of `location` called from `parent` (kNone: the outermost frame).
  NodeId Child(NodeId parent, LocationId location);

  // The leaf of a stack given innermost first, as files have it; kNone for an empty one. REQUIRES:
  // no more than Profile::kMaxDepth locations.
  template <typename Locations>
  NodeId Leaf(const Locations& innermost_first) {
    NodeId node = kNone;
    for (size_t i = innermost_first.size(); i-- > 0;) node = Child(node, innermost_first[i]);
    return node;
  }

 private:
  struct Slot {
    NodeId parent = kNone;
    NodeId child = kNone;  // kNone: free
  };

  void Register(NodeId child);
  Slot* Find(NodeId parent, LocationId location);
  void Grow();

  Profile* profile_;
  NodeId first_root_ = kNone;
  std::vector<NodeId> first_child_;  // by node
  std::vector<Slot> slots_;          // of all further children; a power of two
  size_t used_ = 0;
  bool distinct_ = true;
};

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_MODEL_STACK_BUILDER_H_
