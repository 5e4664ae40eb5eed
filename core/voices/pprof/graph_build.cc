#include "core/voices/pprof/graph_build.h"

#include <algorithm>
#include <thread>

#include "core/base/threads.h"

namespace heapgauge::pprof {
namespace {

// What nodes weigh. The outermost of several equal frames on a path counts.
class NodeCounter {
 public:
  explicit NodeCounter(const NodeTable& table)
      : table_(table), sums_(table.size()), flat_(table.size()) {}

  void Enter(LocationId location) {
    for (EntryId entry : table_.Of(location)) ++sums_[entry].on_path;
  }
  void Leave(LocationId location, const Weight& weight) {
    for (EntryId entry : table_.Of(location)) {
      if (--sums_[entry].on_path == 0) AddTo(entry, weight);
    }
  }
  void BeginTail() { ++tail_; }
  void Tail(LocationId location, const Weight& weight) {
    if (const EntryId only = table_.OnlyOf(location); only != kNone) {
      TailAt(only, weight);
      return;
    }
    for (EntryId entry : table_.Of(location)) TailAt(entry, weight);
  }
  void EndTail() {}
  void Rows(LocationId location, const Weight& weight) {
    flat_[table_.Of(location)[0]].Add(weight);
  }

  // Adds what was counted over another part of the rows.
  void Add(const NodeCounter& other) {
    for (EntryId entry = 0; entry < sums_.size(); ++entry) {
      AddTo(entry, {other.cum(entry), other.cum_div(entry), false});
      flat_[entry].Add(other.flat_[entry]);
    }
  }

  Weight flat(EntryId entry) const { return flat_[entry]; }
  int64_t cum(EntryId entry) const { return sums_[entry].cum; }
  int64_t cum_div(EntryId entry) const { return divisors_.empty() ? 0 : divisors_[entry]; }

 private:
  struct Sum {  // small, so that all of them stay in the cache
    int64_t cum = 0;
    uint32_t on_path = 0;
    uint32_t tail = 0;  // the last that was here
  };

  void TailAt(EntryId entry, const Weight& weight) {
    Sum& sum = sums_[entry];
    if (sum.on_path != 0 || sum.tail == tail_) return;
    sum.tail = tail_;
    AddTo(entry, weight);
  }

  void AddTo(EntryId entry, const Weight& weight) {
    sums_[entry].cum = WrapAdd(sums_[entry].cum, weight.value);
    if (weight.divisor == 0) return;
    if (divisors_.empty()) divisors_.resize(sums_.size());
    divisors_[entry] = WrapAdd(divisors_[entry], weight.divisor);
  }

  const NodeTable& table_;
  std::vector<Sum> sums_;
  std::vector<int64_t> divisors_;
  std::vector<Weight> flat_;
  uint32_t tail_ = 0;
};

// Edges between kept nodes.
class EdgeCounter {
 public:
  EdgeCounter(const Profile& profile, const NodeTable& table, const std::vector<bool>& kept,
              bool inlined_only)
      : table_(table),
        kept_(table.size(), inlined_only ? kCaller : kBoth),
        location_kept_(profile.locations.size(), 1) {
    for (LocationId location = 0; location < profile.locations.size() && inlined_only; ++location) {
      const std::span<const EntryId> entries = table.Of(location);
      for (size_t i = 0; i + 1 < entries.size(); ++i) kept_[entries[i]] = kBoth;
    }
    if (kept.empty()) return;
    for (size_t i = 0; i < kept.size(); ++i) {
      if (!kept[i]) kept_[i] = kNeither;
    }
    for (LocationId location = 0; location < profile.locations.size(); ++location) {
      bool any = false;
      for (EntryId entry : table.Of(location)) any |= kept[entry];
      location_kept_[location] = any;
    }
  }

  // Whether there can be any edge.
  bool any() const { return std::find(kept_.begin(), kept_.end(), kBoth) != kept_.end(); }

  void Enter(LocationId location) {
    frames_.push_back({static_cast<uint32_t>(steps_.size()), caller_, residual_});
    Visit(location, [this](EdgeId id, bool inlined) {
      ++edges_[id].on_path;
      steps_.push_back({id, residual_, inlined});
    });
  }
  void Leave(LocationId, const Weight& weight) {
    const Frame& frame = frames_.back();
    while (steps_.size() > frame.steps) {
      const Step& step = steps_.back();
      Edge& edge = edges_[step.edge];
      if (--edge.on_path == 0 && weight.any) edge.Add(weight, step.residual, step.inlined);
      steps_.pop_back();
    }
    caller_ = frame.caller;
    residual_ = frame.residual;
    frames_.pop_back();
  }
  void BeginTail() {
    ++tail_;
    frames_.push_back({0, caller_, residual_});
  }
  void Tail(LocationId location, const Weight& weight) {
    Visit(location, [&](EdgeId id, bool inlined) {
      Edge& edge = edges_[id];
      if (edge.on_path != 0 || edge.tail == tail_) return;
      edge.tail = tail_;
      edge.Add(weight, residual_, inlined);
    });
  }
  void EndTail() {
    caller_ = frames_.back().caller;
    residual_ = frames_.back().residual;
    frames_.pop_back();
  }
  void Rows(LocationId, const Weight&) {}

  // Adds what was counted over another part of the rows.
  void Add(const EdgeCounter& other) {
    for (const Edge& edge : other.edges_) {
      if (!edge.exists) continue;
      Edge& own = edges_[EdgeBetween(edge.src, edge.dest)];
      own.Add({edge.weight, edge.divisor, true}, edge.residual, edge.inlined);
    }
  }

  void MoveTo(std::vector<GraphEdge>* out) const {
    for (const Edge& edge : edges_) {
      if (!edge.exists) continue;
      out->push_back({edge.src, edge.dest, edge.weight, edge.divisor, edge.residual, edge.inlined});
    }
  }

 private:
  struct Edge {
    EntryId src = 0;
    EntryId dest = 0;
    int64_t weight = 0;
    int64_t divisor = 0;
    uint32_t on_path = 0;
    uint32_t tail = 0;  // the last that was here
    bool exists = false;
    bool residual = false;
    bool inlined = true;

    void Add(const Weight& more, bool more_residual, bool more_inlined) {
      weight = WrapAdd(weight, more.value);
      divisor = WrapAdd(divisor, more.divisor);
      exists = true;
      residual |= more_residual;
      inlined &= more_inlined;
    }
  };
  // Which ends of edges a node can be.
  enum : uint8_t { kNeither, kCaller, kBoth };
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

  EdgeId EdgeBetween(EntryId src, EntryId dest) {
    const EdgeId id = edge_ids_.Find(src, dest);
    if (id == edges_.size()) {
      Edge& edge = edges_.emplace_back();
      edge.src = src;
      edge.dest = dest;
    }
    return id;
  }

  // Goes one location inwards, with a call for each edge on the way.
  template <typename OnEdge>
  void Visit(LocationId location, const OnEdge& on_edge) {
    if (location_kept_[location] == 0) {
      residual_ = true;
      return;
    }
    const std::span<const EntryId> entries = table_.Of(location);
    for (size_t i = entries.size(); i-- > 0;) {
      const EntryId entry = entries[i];
      if (kept_[entry] == kNeither) {
        residual_ = true;
        continue;
      }
      if (caller_ != kNone && entry != caller_ && kept_[entry] == kBoth) {
        on_edge(EdgeBetween(caller_, entry), i != entries.size() - 1);
      }
      caller_ = entry;
      residual_ = false;
    }
  }

  const NodeTable& table_;
  std::vector<uint8_t> kept_;
  std::vector<uint8_t> location_kept_;  // some frame of it is
  EdgeTable edge_ids_;
  std::vector<Edge> edges_;
  std::vector<Step> steps_;
  std::vector<Frame> frames_;
  EntryId caller_ = kNone;
  bool residual_ = false;
  uint32_t tail_ = 0;
};

}  // namespace

namespace {

// Has the rows counted in parts, one thread for each; the sum of all is in the first.
template <typename Counter>
void CountInParts(const StackPlan& plan, std::vector<Counter>* counters) {
  const auto parts = static_cast<uint32_t>(counters->size());
  const auto count = [&](uint32_t part) { plan.WalkPart(part, parts, &(*counters)[part]); };
  std::vector<std::thread> others;
  for (uint32_t part = 1; part < parts; ++part) others.push_back(TryThread(count, part));
  count(0);
  for (uint32_t part = 1; part < parts; ++part) {
    std::thread& other = others[part - 1];
    other.joinable() ? other.join() : count(part);
    (*counters)[0].Add((*counters)[part]);
  }
}

}  // namespace

void CountNodes(const StackPlan& plan, Graph* graph) {
  std::vector<NodeCounter> counters(plan.parts(), NodeCounter(*graph->table));
  CountInParts(plan, &counters);
  const NodeCounter& counter = counters[0];
  graph->nodes.resize(graph->table->size());
  for (EntryId entry = 0; entry < graph->nodes.size(); ++entry) {
    GraphNode& node = graph->nodes[entry];
    node.entry = entry;
    node.flat = counter.flat(entry).value;
    node.flat_div = counter.flat(entry).divisor;
    node.cum = counter.cum(entry);
    node.cum_div = counter.cum_div(entry);
  }
}

void ListNodes(bool drop_negative, Graph* graph) {
  for (GraphId id = 0; id < graph->nodes.size(); ++id) {
    const GraphNode& node = graph->nodes[id];
    if (IsShown(node.flat, node.cum, drop_negative)) graph->order.push_back(id);
  }
}

void CountEdges(const StackPlan& plan, const std::vector<bool>& kept, bool inlined_only,
                Graph* graph) {
  // The order in which edges are numbered shows where they are equal in all else, so parts must
  // keep it.
  std::vector<EdgeCounter> counters(
      inlined_only || plan.parts_keep_order() ? plan.parts() : 1,
      EdgeCounter(*plan.values().profile, *graph->table, kept, inlined_only));
  if (counters[0].any()) CountInParts(plan, &counters);
  graph->edges.clear();
  counters[0].MoveTo(&graph->edges);
  graph->LinkEdges();
}

}  // namespace heapgauge::pprof
