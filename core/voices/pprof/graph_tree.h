// A call tree: nodes that are reached on different paths are different nodes, so that each has one
// caller. Of pprof's option call_tree, for dot and callgrind.
//
// The tree of a large profile has millions of nodes, of which a picture shows eighty. So it is kept
// small until the light ones are gone, and only then made a graph. Nodes that are cut out leave
// their children to their caller, by a residual edge.
#pragma once

#include <cstdint>
#include <vector>

#include "core/voices/pprof/graph.h"
#include "core/voices/pprof/stack_walk.h"

namespace heapgauge::pprof {

class GraphTree {
 public:
  GraphTree(const StackPlan& plan, const NodeTable& table, bool drop_negative);

  int64_t FlatSum() const;
  // Cuts out nodes below; returns how many.
  int DropLight(int64_t cutoff);
  // Fills in nodes, edges and order of the graph.
  void MoveTo(Graph* graph);

  // The graph's node for each node of the profile's trie: the one of its innermost frame, or the
  // caller that is left; kNone if there is none. `exact` tells whether it is the frame's own.
  struct Place {
    GraphId node = kNone;
    bool exact = false;
  };
  Place PlaceOf(NodeId trie_node) const;
  // The next one outwards, kNone at the end.
  GraphId CallerOf(GraphId node) const { return graph_parent_[node]; }

 private:
  struct TreeNode {
    GraphId parent = kNone;  // always smaller
    EntryId entry = 0;
    bool inlined = true;  // into the parent, always
    bool shown = false;
    bool cut = false;
  };

  void CountWeights(const StackPlan& plan);

  std::vector<GraphId> of_trie_;  // in nodes_
  std::vector<TreeNode> nodes_;
  std::vector<Weight> flat_;
  std::vector<Weight> cum_;
  std::vector<GraphId> in_graph_;      // by tree node: itself or the caller that is left
  std::vector<GraphId> graph_parent_;  // by node of the graph as first made
};

// Cuts out of a graph that is a tree the nodes marked so.
void CutTree(Graph* graph);

}  // namespace heapgauge::pprof
