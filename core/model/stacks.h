// The trie of stacks that the rows of a profile share: how it is made, and how many of its stacks
// are walked at once.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/model/profile.h"

namespace heapgauge {

// Makes the trie of stacks that the rows of a profile share.
//
// Stacks from files share their outer frames and then go their own ways. The part that is new with
// a stack is added in one run, so the first child of most nodes is the node behind it, which is
// looked at first and costs no memory. A table is needed only for the further children of nodes at
// which stacks part: one entry for each stack.
//
// Not synchronised. The profile must outlive the builder and its nodes must not be changed by
// others meanwhile.
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

// Walks the stacks of many rows. Nodes of a stack mostly stand side by side, but a walk along
// parents knows where it goes next only when it is there, so each line of the cache is waited for
// in full. Many stacks are walked together instead, and memory is asked for the next step of one
// while the others take theirs: a third of the time for large profiles.
//
// Pure functions; a few small buffers.

// Asks memory for the inner nodes of a stack that will be walked soon. `leaf` may be kNone.
inline void PrefetchStack(const std::vector<Node>& nodes, NodeId leaf) {
  constexpr NodeId kLine = 64 / sizeof(Node);
  constexpr NodeId kLines = 4;
  if (leaf >= nodes.size()) return;
  for (NodeId i = 0; i < kLines; ++i) {
    __builtin_prefetch(&nodes[leaf - std::min(leaf, i * kLine)]);
  }
}

// The same for the row some rows behind `row`, if there is one: for walks that mostly end early.
inline void PrefetchAhead(const Profile& profile, size_t row) {
  constexpr size_t kRows = 4;
  if (row + kRows >= profile.rows.size()) return;
  PrefetchStack(profile.nodes, profile.rows[row + kRows].leaf);
}

// Calls visit(i, locations) for each i from `begin` to `end`, in order, with the locations of the
// stack whose leaf is leaf_of(i), innermost first; none if that is kNone.
template <typename LeafOf, typename Visit>
void WalkStacks(const std::vector<Node>& nodes, size_t begin, size_t end, const LeafOf& leaf_of,
                const Visit& visit) {
  constexpr size_t kTogether = 16;
  struct Stack {
    NodeId node = kNone;  // where the walk outwards is
    std::vector<LocationId> locations;
  };
  std::array<Stack, kTogether> stacks;
  for (size_t first = begin; first < end; first += kTogether) {
    const size_t count = std::min(kTogether, end - first);
    for (size_t i = 0; i < count; ++i) {
      stacks[i].node = leaf_of(first + i);
      stacks[i].locations.clear();
      PrefetchStack(nodes, stacks[i].node);
    }
    // Each round takes every stack to the start of a run of nodes that stand side by side, and asks
    // memory for the next run.
    for (bool more = true; more;) {
      more = false;
      for (size_t i = 0; i < count; ++i) {
        Stack& stack = stacks[i];
        NodeId node = stack.node;
        if (node == kNone) continue;
        NodeId parent = nodes[node].parent;
        stack.locations.push_back(nodes[node].location);
        while (parent != kNone && parent + 1 == node) {
          node = parent;
          parent = nodes[node].parent;
          stack.locations.push_back(nodes[node].location);
        }
        stack.node = parent;
        if (parent == kNone) continue;
        __builtin_prefetch(&nodes[parent]);
        more = true;
      }
    }
    for (size_t i = 0; i < count; ++i) visit(first + i, stacks[i].locations);
  }
}

}  // namespace heapgauge
