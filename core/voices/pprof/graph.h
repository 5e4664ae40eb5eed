// The call graph of a report: nodes with what they weigh alone and with all they called, and the
// calls between them. Made from a profile, then cut down to what a page can show, by pprof's rules:
// nodes below a fraction of the total go first, then all but the weightiest; calls that went
// through a node that is gone become residual edges.
//
// A node's own figures do not depend on which others are kept, so they are counted once; only
// edges are counted again after cutting, and only for reports that look at them. Tags (boxes for
// labels, of dot alone) are made only for nodes that are left.
//
// TrimmedGraph() does it all. The profile and the table must outlive the graph.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/numbers.h"
#include "core/voices/pprof/measure.h"
#include "core/voices/pprof/nodes.h"
#include "core/voices/pprof/report.h"

namespace heapgauge::pprof {

using GraphId = uint32_t;  // of a node of the graph
using EdgeId = uint32_t;

// A label, and what its rows weigh at a node.
struct Tag {
  std::string name;
  std::string unit;  // of numbers
  int64_t value = 0;
  int64_t flat = 0;
  int64_t flat_div = 0;
  int64_t cum = 0;
  int64_t cum_div = 0;
  int64_t flat_value() const { return MeanOf(flat, flat_div); }
  int64_t cum_value() const { return MeanOf(cum, cum_div); }
};

struct NodeTags {
  std::vector<Tag> texts;
  // Numbers, by the text labels that they came with; "" none.
  std::vector<std::pair<std::string, std::vector<Tag>>> numbers;
  // How many boxes they take in a picture.
  int64_t CountFlat() const;
};

struct GraphNode {
  EntryId entry = 0;
  int64_t flat = 0;
  int64_t flat_div = 0;
  int64_t cum = 0;
  int64_t cum_div = 0;
  bool cut = false;  // was shown once and is not any more
  std::vector<EdgeId> in;
  std::vector<EdgeId> out;
  int64_t flat_value() const { return MeanOf(flat, flat_div); }
  int64_t cum_value() const { return MeanOf(cum, cum_div); }
};

struct GraphEdge {
  GraphId src = 0;
  GraphId dest = 0;
  int64_t weight = 0;
  int64_t weight_div = 0;
  bool residual = false;  // nodes between the two are not shown
  bool inlined = true;    // every such call was inlined
  int64_t weight_value() const { return MeanOf(weight, weight_div); }
};

struct Graph {
  const NodeTable* table = nullptr;
  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> edges;
  std::vector<GraphId> order;      // what is shown, the weightiest first
  std::vector<NodeTags> tags;      // by node, or empty
  std::vector<std::string> names;  // printable, by node; of those shown and their neighbours

  const NodeInfo& info(GraphId id) const { return (*table)[nodes[id].entry]; }
  const std::string& name(GraphId id) const { return names[id]; }

  // Makes the lists of edges at the nodes anew from `edges`.
  void LinkEdges();
  void RemoveEdge(EdgeId edge);
  // Removes edges into shown nodes that weigh less; returns how many.
  int TrimEdges(int64_t cutoff);
  // Removes residual edges where another path leads to the same node.
  void RemoveRedundantEdges();
  // The weightiest first, then by the names at both ends.
  std::vector<EdgeId> Sorted(const std::vector<EdgeId>& some) const;
};

enum class NodeOrder { kFlat, kCum, kEntropy };
void SortNodes(NodeOrder order, Graph* graph);

// Tags by weight, then name.
void SortTags(bool flat, std::vector<Tag>* tags);

struct Trimmed {
  Graph graph;
  int original_count = 0;
  int dropped_nodes = 0;
  int dropped_edges = 0;
};

struct GraphWants {
  bool edges = true;
  bool inlined_edges = false;  // of the edges only those into nodes that were ever inlined
  bool visual = false;         // pick nodes and edges for a picture, with tags
  bool call_tree = false;      // nodes reached on different paths are different
};
Trimmed TrimmedGraph(const ReportInput& input, const NodeTable& table, const GraphWants& wants);

// The unit that suits all nodes, if the report shall find one; otherwise as the format has it.
void SelectOutputUnit(const ReportInput& input, const Graph& graph, ValueFormat* format);

}  // namespace heapgauge::pprof
