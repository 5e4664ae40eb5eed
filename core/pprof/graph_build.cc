#include "core/pprof/graph_build.h"

#include "core/pprof/edge_table.h"

namespace heapgauge::pprof {
namespace {

// What nodes weigh. The first of several equal frames on a path counts.
class NodeCounter {
 public:
  explicit NodeCounter(const NodeTable& table)
      : table_(table), on_path_(table.size()), flat_(table.size()), cum_(table.size()) {}

  void Enter(LocationId location) {
    for (EntryId entry : table_.Of(location)) ++on_path_[entry];
  }
  void Rows(LocationId location, const Weight& weight) {
    flat_[table_.Of(location)[0]].Add(weight);
  }
  void Leave(LocationId location, const Weight& weight) {
    for (EntryId entry : table_.Of(location)) {
      if (--on_path_[entry] == 0) cum_[entry].Add(weight);
    }
  }

  const std::vector<Weight>& flat() const { return flat_; }
  const std::vector<Weight>& cum() const { return cum_; }

 private:
  const NodeTable& table_;
  std::vector<uint32_t> on_path_;
  std::vector<Weight> flat_;
  std::vector<Weight> cum_;
};

// Edges between kept nodes.
class EdgeCounter {
 public:
  EdgeCounter(const NodeTable& table, const std::vector<bool>& kept)
      : table_(table), kept_(table.size(), 1) {
    for (size_t i = 0; i < kept.size(); ++i) kept_[i] = kept[i];
  }

  void Enter(LocationId location) {
    frames_.push_back({static_cast<uint32_t>(steps_.size()), caller_, residual_});
    const std::span<const EntryId> entries = table_.Of(location);
    for (size_t i = entries.size(); i-- > 0;) {
      const EntryId entry = entries[i];
      if (kept_[entry] == 0) {
        residual_ = true;
        continue;
      }
      if (caller_ != kNone && entry != caller_) {
        const EdgeId edge = table_of_edges_.Find(caller_, entry);
        if (edge == edges_.size()) edges_.push_back({caller_, entry});
        ++edges_[edge].on_path;
        steps_.push_back({edge, residual_, i != entries.size() - 1});
      }
      caller_ = entry;
      residual_ = false;
    }
  }
  void Rows(LocationId, const Weight&) {}
  void Leave(LocationId, const Weight& weight) {
    const Frame& frame = frames_.back();
    while (steps_.size() > frame.steps) {
      const Step& step = steps_.back();
      Edge& edge = edges_[step.edge];
      if (--edge.on_path == 0 && weight.any) {
        edge.weight.Add(weight);
        edge.residual |= step.residual;
        edge.inlined &= step.inlined;
      }
      steps_.pop_back();
    }
    caller_ = frame.caller;
    residual_ = frame.residual;
    frames_.pop_back();
  }

  void MoveTo(std::vector<GraphEdge>* out) {
    for (const Edge& edge : edges_) {
      if (!edge.weight.any) continue;
      out->push_back({edge.src, edge.dest, edge.weight.value, edge.weight.divisor, edge.residual,
                      edge.inlined});
    }
  }

 private:
  struct Edge {
    EntryId src = 0;
    EntryId dest = 0;
    uint32_t on_path = 0;
    bool residual = false;
    bool inlined = true;
    Weight weight = {};
  };
  struct Step {  // an edge on the path
    EdgeId edge;
    bool residual;
    bool inlined;
  };
  struct Frame {  // where the path was before a location
    uint32_t steps;
    EntryId caller;
    bool residual;
  };

  const NodeTable& table_;
  std::vector<uint8_t> kept_;
  EdgeTable table_of_edges_;
  std::vector<Edge> edges_;
  std::vector<Step> steps_;
  std::vector<Frame> frames_;
  EntryId caller_ = kNone;
  bool residual_ = false;
};

}  // namespace

void CountNodes(const StackPlan& plan, Graph* graph) {
  NodeCounter counter(*graph->table);
  plan.Walk(&counter);
  graph->nodes.resize(graph->table->size());
  for (EntryId entry = 0; entry < graph->nodes.size(); ++entry) {
    GraphNode& node = graph->nodes[entry];
    node.entry = entry;
    node.flat = counter.flat()[entry].value;
    node.flat_div = counter.flat()[entry].divisor;
    node.cum = counter.cum()[entry].value;
    node.cum_div = counter.cum()[entry].divisor;
  }
}

void ListNodes(bool drop_negative, Graph* graph) {
  for (GraphId id = 0; id < graph->nodes.size(); ++id) {
    const GraphNode& node = graph->nodes[id];
    if (IsShown(node.flat, node.cum, drop_negative)) graph->order.push_back(id);
  }
}

void CountEdges(const StackPlan& plan, const std::vector<bool>& kept, Graph* graph) {
  EdgeCounter counter(*graph->table, kept);
  plan.Walk(&counter);
  graph->edges.clear();
  counter.MoveTo(&graph->edges);
  graph->LinkEdges();
}

}  // namespace heapgauge::pprof
