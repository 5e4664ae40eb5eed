#include <algorithm>
#include <optional>

#include "core/voices/pprof/graph.h"
#include "core/voices/pprof/graph_build.h"
#include "core/voices/pprof/graph_tree.h"

namespace heapgauge::pprof {
namespace {

constexpr int64_t kMaxTagsOfNode = 4;

int64_t Cutoff(int64_t total, double fraction) {
  return Abs64(ToInt64(static_cast<double>(total) * fraction));
}

int64_t FlatSum(const Graph& graph) {
  int64_t sum = 0;
  for (GraphId id : graph.order) sum = WrapAdd(sum, graph.nodes[id].flat);
  return sum;
}

class Trimmer {
 public:
  Trimmer(const ReportInput& input, const NodeTable& table, const GraphWants& wants)
      : input_(input),
        wants_(wants),
        plan_(RowValues{&input.profile, input.type, input.config().mean}) {
    result_.graph.table = &table;
    sort_ = wants.visual                 ? NodeOrder::kEntropy
            : input.config().sort_by_cum ? NodeOrder::kCum
                                         : NodeOrder::kFlat;
  }

  Trimmed Run() {
    if (wants_.call_tree) {
      MakeTree();
    } else {
      MakeGraph();
    }
    result_.original_count = static_cast<int>(result_.graph.order.size());
    if (wants_.visual) MakeEdges();
    SortNodes(sort_, &result_.graph);
    if (input_.config().node_count > 0) LimitCount();
    if (wants_.visual && result_.graph.tags.empty()) MakeTags(result_.graph.order.size());
    if (wants_.edges) {
      MakeEdges();
      result_.dropped_edges = result_.graph.TrimEdges(edge_cutoff_);
      if (wants_.visual) result_.graph.RemoveRedundantEdges();
    }
    return std::move(result_);
  }

 private:
  void MakeGraph() {
    CountNodes(plan_, &result_.graph);
    ListNodes(input_.config().drop_negative, &result_.graph);
    SetCutoffs(FlatSum(result_.graph));
    DropLight();
  }

  void MakeTree() {
    tree_.emplace(plan_, *result_.graph.table, input_.config().drop_negative);
    SetCutoffs(tree_->FlatSum());
    if (node_cutoff_ > 0) result_.dropped_nodes = tree_->DropLight(node_cutoff_);
    tree_->MoveTo(&result_.graph);
    edges_made_ = true;
  }

  void SetCutoffs(int64_t total) {
    node_cutoff_ = Cutoff(total, input_.config().node_fraction);
    edge_cutoff_ = Cutoff(total, input_.config().edge_fraction);
  }

  // Drops nodes that weigh too little with all they called.
  void DropLight() {
    if (node_cutoff_ <= 0) return;
    std::vector<GraphId> kept;
    for (GraphId id : result_.graph.order) {
      if (Abs64(result_.graph.nodes[id].cum) >= node_cutoff_) kept.push_back(id);
    }
    if (kept.size() == result_.graph.order.size()) return;
    result_.dropped_nodes = static_cast<int>(result_.graph.order.size() - kept.size());
    Keep(std::move(kept));
  }

  // Keeps as many of the sorted nodes as the report shall have.
  void LimitCount() {
    Graph& graph = result_.graph;
    auto limit = static_cast<size_t>(input_.config().node_count);
    if (wants_.visual) {
      MakeTags(limit);
      MakeEdges();
      graph.TrimEdges(edge_cutoff_);
      int64_t count = 0;
      for (size_t i = 0; i < graph.order.size(); ++i) {
        // The boxes of tags take up space as well.
        count += std::min(graph.tags[graph.order[i]].CountFlat(), kMaxTagsOfNode) + 1;
        if (count >= static_cast<int64_t>(limit)) {
          limit = i + 1;
          break;
        }
      }
    }
    if (limit >= graph.order.size()) return;
    Keep(std::vector<GraphId>(graph.order.begin(),
                              graph.order.begin() + static_cast<ptrdiff_t>(limit)));
    if (!wants_.visual) return;  // the order does not depend on edges
    MakeEdges();
    SortNodes(sort_, &graph);
  }

  // REQUIRES: a part of what is shown.
  void Keep(std::vector<GraphId> kept) {
    Graph& graph = result_.graph;
    for (GraphId id : graph.order) graph.nodes[id].cut = true;
    for (GraphId id : kept) graph.nodes[id].cut = false;
    graph.order = std::move(kept);
    if (wants_.call_tree) {
      CutTree(&graph);
      return;
    }
    kept_.assign(graph.nodes.size(), false);
    for (GraphId id : graph.order) kept_[id] = true;
    edges_made_ = false;
  }

  void MakeEdges() {
    if (edges_made_) return;
    CountEdges(plan_, kept_, wants_.inlined_edges, &result_.graph);
    edges_made_ = true;
  }

  // Of the first nodes, as far as they can be shown.
  void MakeTags(size_t count) {
    Graph& graph = result_.graph;
    const size_t size = std::min(count, graph.order.size());
    TagOptions options;
    options.unit = input_.config().unit;
    const auto unit = input_.label_units.find("bytes");
    options.bytes_unit = unit == input_.label_units.end() ? "bytes" : unit->second;
    options.cutoff = node_cutoff_;
    const std::vector<GraphId> some(graph.order.begin(),
                                    graph.order.begin() + static_cast<ptrdiff_t>(size));
    CountTags(plan_.values(), options, some, tree_ ? &*tree_ : nullptr, &graph);
  }

  const ReportInput& input_;
  const GraphWants wants_;
  StackPlan plan_;
  std::optional<GraphTree> tree_;
  NodeOrder sort_;
  int64_t node_cutoff_ = 0;
  int64_t edge_cutoff_ = 0;
  std::vector<bool> kept_;  // empty: all
  bool edges_made_ = false;
  Trimmed result_;
};

}  // namespace

Trimmed TrimmedGraph(const ReportInput& input, const NodeTable& table, const GraphWants& wants) {
  return Trimmer(input, table, wants).Run();
}

void SelectOutputUnit(const ReportInput& input, const Graph& graph, ValueFormat* format) {
  if (format->output_unit() != "minimum" || graph.order.empty()) return;
  int64_t min = 0;
  for (GraphId id : graph.order) {
    const GraphNode& node = graph.nodes[id];
    int64_t value = Abs64(node.flat_value());
    if (value == 0) value = Abs64(node.cum_value());
    if (value > 0 && (min == 0 || value < min)) min = value;
  }
  int64_t max = input.total;
  if (min == 0) min = max;
  min = format->Divided(min);
  max = format->Divided(max);
  const std::string& from = format->sample_unit();
  std::string_view unit = Scale(min, from, "minimum").unit;
  // With units as far apart as this, the smallest may become 0.01 of a larger one. Callgrind files
  // have no fractions.
  const int64_t min_100 = WrapMul(min, 100);
  if (unit != Scale(max, from, "minimum").unit && min_100 < max &&
      input.request.kind != ReportKind::kCallgrind) {
    unit = Scale(min_100, from, "minimum").unit;
  }
  format->set_output_unit(unit.empty() ? from : std::string(unit));
}

}  // namespace heapgauge::pprof
