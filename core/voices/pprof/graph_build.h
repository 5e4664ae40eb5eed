// The parts that TrimmedGraph() is made of: what each node weighs, the edges between those that are
// kept, their tags, and call trees. Each is one visit of the stacks.
//
// For graph_trim.cc alone.
#pragma once

#include <cstdint>
#include <vector>

#include "core/voices/pprof/graph.h"
#include "core/voices/pprof/stack_walk.h"

namespace heapgauge::pprof {

class GraphTree;

// Fills in what the nodes weigh; one node for each entry of the table.
void CountNodes(const StackPlan& plan, Graph* graph);

// Nodes are shown if they weigh anything; with `drop_negative`, only those that do not shrink.
inline bool IsShown(int64_t flat, int64_t cum, bool drop_negative) {
  if (cum == 0 && flat == 0) return false;
  return !drop_negative || (flat >= 0 && (flat != 0 || cum >= 0));
}
void ListNodes(bool drop_negative, Graph* graph);

// Makes the edges between nodes for which `kept` is set; empty for all, also those that are not
// listed. With `inlined_only`, edges are made only into nodes that were inlined somewhere.
void CountEdges(const StackPlan& plan, const std::vector<bool>& kept, bool inlined_only,
                Graph* graph);

struct TagOptions {
  std::string unit;        // that numbers are shown in
  std::string bytes_unit;  // of the label "bytes", the only number that graphs show
  int64_t cutoff = 0;
};
// Makes the tags of `some` nodes, those of weight `cutoff` and up. `tree` is what the graph was
// made from, or null.
void CountTags(const RowValues& values, const TagOptions& options, const std::vector<GraphId>& some,
               const GraphTree* tree, Graph* graph);

}  // namespace heapgauge::pprof
