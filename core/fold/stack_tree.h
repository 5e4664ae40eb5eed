// The call tree of a profile, made only as far as somebody looks at it. A profile of a million
// stacks has some twenty million calls, of which a picture shows a few thousand: below a root that
// was chosen, down to some depth, and wide enough to be seen. What call_tree.h builds in seconds is
// here found by following the stacks of what is visible; the two agree about what a node is.
//
// From the callers inwards a node of the tree is a set of places in the profile's trie: what is
// below each of them was added up once. From what allocates outwards it is a set of rows on their
// way out.
//
// The tree can also begin at some functions in place of the outermost callers: inwards with what
// they call, outwards with who calls them. A stack that passes several of them is taken at the
// outermost one, so that the two trees together show it whole.
//
// Beside its value a row can have one before and one after; nodes then have the sums of both.
//
// Steps name nodes from outside: a number for each entity, the same in every profile of the
// program, so that a path of them means the same call after the filter changed, or in another
// process.
//
// Preparation is linear in the nodes of the profile, a look in what it shows. Refers to the profile
// and the entities, which must outlive it. Threads: any number may look.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/base/lookup_tables.h"
#include "core/fold/frames.h"
#include "core/fold/functions.h"
#include "core/fold/groundwork.h"
#include "core/model/profile.h"

namespace heapgauge {

// 36 bits that tell an entity from others.
using Step = uint64_t;
Step StepOf(const Profile& profile, const Entities& entities, EntityId id);

class StackTree {
 public:
  struct Node {
    uint32_t parent = kNone;  // in the same list; a smaller index
    EntityId entity = kNone;  // kNone: the root, or stacks that cannot be read
    uint32_t frame = kNone;   // one of its frames
    double value = 0;         // of the node and all it calls
    double self = 0;          // what is in none of its children; only for nodes that were opened
    double before = 0;        // of two sides, where rows have them
    double after = 0;
    size_t depth = 0;           // below the first of the list
    bool opened = false;        // its children were looked for
    bool lines_differ = false;  // as in CallTree::Node
    bool inlined = false;
    bool recursive = false;
    uint32_t children = 0;  // how many it has; only for nodes that were opened
  };

  // Paths that somebody opened one by one, as a tree of steps: where each leads on to.
  struct OpenPaths {
    std::vector<std::map<Step, uint32_t>> nodes{1};  // the first is where the look begins
  };

  struct Question {
    std::vector<Step> path;           // from the root to where the look begins
    size_t depth = 100;               // levels below it
    double least = 0;                 // children that hold less are left out
    size_t most = 20'000;             // nodes; the heaviest are kept
    bool heaviest = false;            // of the children of each node only the heaviest is opened
    const OpenPaths* open = nullptr;  // if not null, only these nodes are opened
    bool last_level = false;          // `self` and `children` are told of the others as well
  };

  struct View {
    std::vector<Node> path;   // from the root to the node that was asked for, as far as it exists
    bool found = false;       // the whole path exists
    std::vector<Node> nodes;  // the node that was asked for, then all below it: parents first, the
                              // heaviest child first
    bool cut = false;         // there would have been more than `most`
  };

  struct Sides {
    double before = 0;
    double after = 0;
  };
  struct Options {
    bool callers = false;
    std::vector<bool> through = {};  // by entity: where it begins; empty: it has all stacks
    std::vector<Sides> sides = {};   // by row; empty: there are none
  };

  // One value for each row; rows without one (0 or less) are not there.
  // The groundwork is that of the profile, and needs not outlive the tree.
  StackTree(const Groundwork& groundwork, const Entities& entities, std::vector<double> row_values,
            Options options);
  StackTree(const Profile& profile, const Entities& entities, std::vector<double> row_values,
            bool callers)
      : StackTree(Groundwork(profile), entities, std::move(row_values), Options{callers}) {}

  View Look(const Question& question) const;

  // Which rows are in the node that the path leads to; none if it does not exist.
  std::vector<bool> RowsBelow(const std::vector<Step>& path) const;

  double total() const { return total_.value; }
  Sides sides() const { return {total_.before, total_.after}; }

 private:
  struct Sum {
    double value = 0;
    double before = 0;
    double after = 0;
    void Add(const Sum& other) {
      value += other.value;
      before += other.before;
      after += other.after;
    }
    void AddTo(Node* node) const {
      node->value += value;
      node->before += before;
      node->after += after;
    }
  };
  // A frame of the trie that was entered from outside; for callers, of a stack on its way out.
  struct Spot {
    FramePlace at;
    uint32_t start = kNone;  // callers only: the row, or the one of `centers_`, where it began
  };
  // A node with what is needed to find its children.
  struct Made {
    Node node;
    std::vector<Spot> spots;
  };
  class Opener;

  bool is_through() const { return !options_.through.empty(); }
  void AddUp();
  void SumUp(const RankedBits& apart);
  // The first knot at a node or further in. REQUIRES: it holds something.
  uint32_t KnotOf(NodeId node) const { return knots_.Rank(node); }
  // All that hold something.
  template <typename Function>
  void ForEachChild(NodeId node, const Function& function) const {
    const NodeId behind = node + 1;
    if (behind < profile_.nodes.size() && profile_.nodes[behind].parent == node && holds_[behind]) {
      function(behind);
    }
    if (!knots_[node]) return;
    for (uint32_t at = first_further_[KnotOf(node)]; at != kNone; at = further_[at].next) {
      function(further_[at].child);
    }
  }
  void FindCenters();
  Sum RowSum(RowId row) const;
  Sum AtKnot(size_t knot) const;
  Sum Below(NodeId node) const { return AtKnot(KnotOf(node)); }
  Sum SumAt(const FramePlace& at) const;
  Sum SumFrom(uint32_t start) const;
  // Adds the rows at these places and below.
  void MarkInside(const std::vector<FramePlace>& places, std::vector<bool>* rows) const;
  EntityId EntityAt(const FramePlace& at) const {
    return entities_.Of(profile_.nodes[at.node].location, at.k);
  }
  uint32_t FramesAt(NodeId node) const {
    return profile_.locations[profile_.nodes[node].location].frame_count;
  }
  // Follows the path as far as it goes; the last is the node it leads to.
  std::vector<Made> Follow(const std::vector<Step>& path, Opener* opener) const;

  const Profile& profile_;
  const Entities& entities_;
  const std::vector<double> row_values_;
  const Options options_;
  std::vector<FramePlace> flat_;  // by row: where it ends; kNone for those without a value as well
  Sum unreadable_;                // of rows with an empty stack
  Sum total_;
  std::vector<FramePlace> centers_;  // where `through` was met
  std::vector<Sum> center_sums_;
  // Of the trie; callers of all stacks need none of it. Most nodes only lead on to the one behind
  // them: they hold what that holds, and nothing is kept for them. The others are knots: rows end
  // there, or stacks part.
  RankedBits holds_;                // by node: rows end there or below
  RankedBits knots_;                // by node
  std::vector<double> below_;       // by knot: rows that end there or below
  std::vector<Sides> sides_below_;  // the same; empty: there are no sides
  // Children that are not behind their parents, in lists.
  struct Further {
    NodeId child = kNone;
    uint32_t next = kNone;
  };
  std::vector<Further> further_;
  std::vector<uint32_t> first_further_;  // by knot
  std::vector<NodeId> roots_;
  // Nodes in which rows end before the innermost frame, and at which; sorted.
  std::vector<std::pair<NodeId, uint32_t>> ends_early_;
};

}  // namespace heapgauge
