#include "core/voices/pprof/graph_tree.h"

#include <algorithm>

#include "core/voices/pprof/edge_table.h"
#include "core/voices/pprof/graph_build.h"

namespace heapgauge::pprof {

GraphTree::GraphTree(const StackPlan& plan, const NodeTable& table, bool drop_negative) {
  const Profile& profile = *plan.values().profile;
  // Only stacks of rows that weigh anything make nodes.
  std::vector<bool> used(profile.nodes.size());
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    const NodeId leaf = profile.rows[row].leaf;
    if (leaf != kNone && plan.values().Of(row).any) used[leaf] = true;
  }
  for (size_t i = profile.nodes.size(); i-- > 0;) {
    if (used[i] && profile.nodes[i].parent != kNone) used[profile.nodes[i].parent] = true;
  }
  of_trie_.assign(profile.nodes.size(), kNone);
  EdgeTable children;
  for (NodeId i = 0; i < profile.nodes.size(); ++i) {
    if (!used[i]) continue;
    const Node& node = profile.nodes[i];
    GraphId at = node.parent == kNone ? kNone : of_trie_[node.parent];
    const std::span<const EntryId> entries = table.Of(node.location);
    for (size_t k = entries.size(); k-- > 0;) {
      const GraphId child = children.Find(at, entries[k]);
      if (child == nodes_.size()) nodes_.push_back({at, entries[k]});
      nodes_[child].inlined &= k != entries.size() - 1;
      at = child;
    }
    of_trie_[i] = at;
  }
  CountWeights(plan);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].shown = IsShown(flat_[i].value, cum_[i].value, drop_negative);
  }
}

void GraphTree::CountWeights(const StackPlan& plan) {
  const Profile& profile = *plan.values().profile;
  flat_.resize(nodes_.size());
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    const NodeId leaf = profile.rows[row].leaf;
    const Weight weight = plan.values().Of(row);
    if (leaf != kNone && weight.any) flat_[of_trie_[leaf]].Add(weight);
  }
  cum_ = flat_;
  for (size_t i = nodes_.size(); i-- > 0;) {
    if (nodes_[i].parent != kNone) cum_[nodes_[i].parent].Add(cum_[i]);
  }
}

int64_t GraphTree::FlatSum() const {
  int64_t sum = 0;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].shown) sum = WrapAdd(sum, flat_[i].value);
  }
  return sum;
}

int GraphTree::DropLight(int64_t cutoff) {
  int dropped = 0;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[i].shown || Abs64(cum_[i].value) >= cutoff) continue;
    nodes_[i].shown = false;
    nodes_[i].cut = true;
    ++dropped;
  }
  return dropped;
}

void GraphTree::MoveTo(Graph* graph) {
  // Going outwards over nodes that are cut: whether all calls there were inlined.
  std::vector<bool> inlined(nodes_.size(), true);
  in_graph_.assign(nodes_.size(), kNone);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const TreeNode& node = nodes_[i];
    const bool parent_cut = node.parent != kNone && nodes_[node.parent].cut;
    const GraphId caller = node.parent == kNone ? kNone : in_graph_[node.parent];
    const bool all_inlined = node.inlined && (!parent_cut || inlined[node.parent]);
    if (node.cut) {
      in_graph_[i] = caller;
      inlined[i] = all_inlined;
      continue;
    }
    const auto id = static_cast<GraphId>(graph->nodes.size());
    in_graph_[i] = id;
    GraphNode& made = graph->nodes.emplace_back();
    made.entry = node.entry;
    made.flat = flat_[i].value;
    made.flat_div = flat_[i].divisor;
    made.cum = cum_[i].value;
    made.cum_div = cum_[i].divisor;
    if (node.shown) graph->order.push_back(id);
    graph_parent_.push_back(caller);
    if (caller == kNone) continue;
    graph->edges.push_back({caller, id, cum_[i].value, cum_[i].divisor, parent_cut, all_inlined});
  }
  graph->LinkEdges();
}

GraphTree::Place GraphTree::PlaceOf(NodeId trie_node) const {
  const GraphId tree_node = of_trie_[trie_node];
  if (tree_node == kNone) return {};
  return {in_graph_[tree_node], !nodes_[tree_node].cut};
}

void CutTree(Graph* graph) {
  for (GraphId id = 0; id < graph->nodes.size(); ++id) {
    if (!graph->nodes[id].cut) continue;
    const std::vector<EdgeId> in = graph->nodes[id].in;
    const std::vector<EdgeId> out = graph->nodes[id].out;
    graph->nodes[id].in.clear();
    graph->nodes[id].out.clear();
    if (in.empty()) {
      for (EdgeId edge : out) graph->nodes[graph->edges[edge].dest].in.clear();
      continue;
    }
    const GraphEdge into = graph->edges[in[0]];
    std::vector<EdgeId>& siblings = graph->nodes[into.src].out;
    std::erase(siblings, in[0]);
    for (EdgeId edge : out) {
      graph->edges[edge].src = into.src;
      graph->edges[edge].residual = true;
      graph->edges[edge].inlined &= into.inlined;
      siblings.push_back(edge);
    }
  }
}

}  // namespace heapgauge::pprof
