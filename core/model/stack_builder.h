// Makes the trie of stacks that the rows of a profile share.
//
// Stacks from files share their outer frames and then go their own ways. The part that is new with
// a stack is added in one run, so the first child of most nodes is the node behind it, which is
// looked at first and costs no memory. A table is needed only for the further children of nodes at
// which stacks part: one entry for each stack.
//
// Not synchronised. The profile must outlive the builder and its nodes must not be changed by
// others meanwhile.
#pragma once

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
  NodeId Child(NodeId parent, LocationId location) {
    const NodeId known = Find(parent, location);
    return known != kNone ? known : Attach(parent, location);
  }

  // The leaf of a stack given innermost first, as files have it; kNone for an empty one. REQUIRES:
  // no more than Profile::kMaxDepth locations.
  template <typename Locations>
  NodeId Leaf(const Locations& innermost_first) {
    NodeId node = kNone;
    size_t i = innermost_first.size();
    for (; i > 0; --i) {
      const NodeId known = Find(node, innermost_first[i - 1]);
      if (known == kNone) break;
      node = known;
    }
    if (i == 0) return node;
    return AttachRun(node, i, innermost_first);
  }

  // Many stacks are found faster together: memory is asked for what the next ones need while one
  // is looked at. Locations of all stacks stand end to end, each stack innermost first, and ends
  // where `ends` says. Sets the leaf of each.
  void Leaves(const std::vector<LocationId>& locations, const std::vector<size_t>& ends,
              std::vector<NodeId>* leaves);

 private:
  struct Walk {
    size_t stack = 0;
    size_t begin = 0;  // in `locations`
    size_t left = 0;   // frames, the outermost is the last
    NodeId node = kNone;
  };
  struct Slot {
    NodeId parent = kNone;
    LocationId location = kNone;
    NodeId child = kNone;  // kNone: free
  };

  // The child of `parent`, or kNone. Behind kNone comes node 0, which is an outermost frame.
  NodeId Find(NodeId parent, LocationId location) const {
    const NodeId next = parent + 1;
    if (next >= profile_->nodes.size()) return kNone;  // the last node has no children yet
    const Node& behind = profile_->nodes[next];
    if (behind.parent == parent && behind.location == location) return next;
    return slots_[SlotOf(parent, location)].child;
  }

  // Adds the outermost `count` > 0 frames below `node`.
  template <typename Locations>
  NodeId AttachRun(NodeId node, size_t count, const Locations& innermost_first) {
    Reserve(count);
    node = Attach(node, innermost_first[--count]);
    while (count > 0) {
      profile_->nodes.push_back({node, innermost_first[--count]});
      node = static_cast<NodeId>(profile_->nodes.size() - 1);
    }
    return node;
  }

  // Makes room for `count` more nodes.
  void Reserve(size_t count);
  void Prefetch(NodeId parent, LocationId location) const;
  NodeId Attach(NodeId parent, LocationId location);
  void Register(NodeId child);
  size_t SlotOf(NodeId parent, LocationId location) const;
  void Grow();

  Profile* profile_;
  std::vector<Walk> walks_;
  std::vector<Slot> slots_;  // children that are not behind their parents; a power of two
  size_t used_ = 0;
  bool distinct_ = true;
};

}  // namespace heapgauge
