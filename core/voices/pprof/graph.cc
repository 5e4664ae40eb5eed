#include "core/voices/pprof/graph.h"

#include <algorithm>
#include <cmath>

namespace heapgauge::pprof {
namespace {

double EdgeEntropy(const Graph& graph, const std::vector<EdgeId>& edges, int64_t self) {
  int64_t total = self;
  for (EdgeId edge : edges) {
    if (graph.edges[edge].weight > 0) total = WrapAdd(total, graph.edges[edge].weight);
  }
  if (total == 0) return 0;
  double score = 0;
  const auto add = [&](int64_t weight) {
    const double part = static_cast<double>(Abs64(weight)) / static_cast<double>(total);
    score += -part * std::log2(part);
  };
  for (EdgeId edge : edges) add(graph.edges[edge].weight);
  if (self > 0) add(self);
  return score;
}

// How much a node tells in a picture: much if it is where calls come together or part, little if
// they only pass through.
int64_t EntropyScore(const Graph& graph, const GraphNode& node) {
  double score = node.in.empty() ? 1 : EdgeEntropy(graph, node.in, 0);
  score += node.out.empty() ? 1 : EdgeEntropy(graph, node.out, node.flat);
  return WrapAdd(ToInt64(score * static_cast<double>(node.cum)), node.flat);
}

void Forget(EdgeId edge, std::vector<EdgeId>* edges) {
  edges->erase(std::remove(edges->begin(), edges->end(), edge), edges->end());
}

// Whether the source of an edge reaches its destination without it.
class PathSearch {
 public:
  explicit PathSearch(const Graph& graph) : graph_(graph), seen_(graph.nodes.size()) {}

  bool Redundant(EdgeId edge) {
    ++round_;
    const GraphId src = graph_.edges[edge].src;
    queue_.assign(1, graph_.edges[edge].dest);
    seen_[queue_[0]] = round_;
    for (size_t i = 0; i < queue_.size(); ++i) {
      for (EdgeId in : graph_.nodes[queue_[i]].in) {
        const GraphId caller = graph_.edges[in].src;
        if (in == edge || seen_[caller] == round_) continue;
        if (caller == src) return true;
        seen_[caller] = round_;
        queue_.push_back(caller);
      }
    }
    return false;
  }

 private:
  const Graph& graph_;
  std::vector<uint32_t> seen_;
  std::vector<GraphId> queue_;
  uint32_t round_ = 0;
};

}  // namespace

void Graph::LinkEdges() {
  for (GraphNode& node : nodes) {
    node.in.clear();
    node.out.clear();
  }
  names.resize(nodes.size());
  const auto name_it = [this](GraphId id) {
    if (names[id].empty()) names[id] = PrintableName(info(id));
  };
  for (EdgeId edge = 0; edge < edges.size(); ++edge) {
    nodes[edges[edge].src].out.push_back(edge);
    nodes[edges[edge].dest].in.push_back(edge);
    name_it(edges[edge].src);
    name_it(edges[edge].dest);
  }
}

void Graph::RemoveEdge(EdgeId edge) {
  Forget(edge, &nodes[edges[edge].src].out);
  Forget(edge, &nodes[edges[edge].dest].in);
}

int Graph::TrimEdges(int64_t cutoff) {
  int removed = 0;
  std::vector<bool> light(edges.size());
  for (GraphId id : order) {
    for (EdgeId edge : nodes[id].in) {
      if (Abs64(edges[edge].weight) >= cutoff) continue;
      light[edge] = true;
      ++removed;
    }
  }
  if (removed == 0) return 0;
  const auto is_light = [&light](EdgeId edge) { return light[edge]; };
  for (GraphNode& node : nodes) {
    std::erase_if(node.in, is_light);
    std::erase_if(node.out, is_light);
  }
  return removed;
}

void Graph::RemoveRedundantEdges() {
  PathSearch search(*this);
  // From the lightest, so that the heavier of two ways stays.
  for (size_t i = order.size(); i-- > 0;) {
    const std::vector<EdgeId> in = Sorted(nodes[order[i]].in);
    for (size_t j = in.size(); j-- > 0;) {
      // What is heavier than a real call stays: its absence would mislead.
      if (!edges[in[j]].residual) break;
      if (search.Redundant(in[j])) RemoveEdge(in[j]);
    }
  }
}

std::vector<EdgeId> Graph::Sorted(const std::vector<EdgeId>& some) const {
  std::vector<EdgeId> sorted = some;
  std::sort(sorted.begin(), sorted.end(), [this](EdgeId a, EdgeId b) {
    const GraphEdge& x = edges[a];
    const GraphEdge& y = edges[b];
    const int64_t weight_x = Abs64(x.weight);
    const int64_t weight_y = Abs64(y.weight);
    if (weight_x != weight_y) return weight_x > weight_y;
    if (const int order_of = name(x.src).compare(name(y.src)); order_of != 0) return order_of < 0;
    if (const int order_of = name(x.dest).compare(name(y.dest)); order_of != 0) {
      return order_of < 0;
    }
    return a < b;
  });
  return sorted;
}

void SortNodes(NodeOrder order, Graph* graph) {
  graph->names.resize(graph->nodes.size());
  for (GraphId id : graph->order) {
    if (graph->names[id].empty()) graph->names[id] = PrintableName(graph->info(id));
  }
  // What decides before the name and after it.
  std::vector<int64_t> before(graph->nodes.size());
  std::vector<int64_t> after(graph->nodes.size());
  for (GraphId id : graph->order) {
    const GraphNode& node = graph->nodes[id];
    before[id] = Abs64(order == NodeOrder::kFlat  ? node.flat
                       : order == NodeOrder::kCum ? node.cum
                                                  : EntropyScore(*graph, node));
    after[id] = Abs64(order == NodeOrder::kFlat ? node.cum : node.flat);
  }
  std::sort(graph->order.begin(), graph->order.end(), [&](GraphId a, GraphId b) {
    if (before[a] != before[b]) return before[a] > before[b];
    if (const int by_name = graph->names[a].compare(graph->names[b]); by_name != 0) {
      return by_name < 0;
    }
    if (after[a] != after[b]) return after[a] > after[b];
    const int by_rest = DebugText(graph->info(a)).compare(DebugText(graph->info(b)));
    return by_rest != 0 ? by_rest < 0 : a < b;
  });
}

void SortTags(bool flat, std::vector<Tag>* tags) {
  std::stable_sort(tags->begin(), tags->end(), [flat](const Tag& a, const Tag& b) {
    if (!flat && Abs64(a.cum) != Abs64(b.cum)) return Abs64(a.cum) > Abs64(b.cum);
    if (Abs64(a.flat) != Abs64(b.flat)) return Abs64(a.flat) > Abs64(b.flat);
    return a.name < b.name;
  });
}

int64_t NodeTags::CountFlat() const {
  const auto is_flat = [](const Tag& tag) { return tag.flat != 0; };
  int64_t count = std::count_if(texts.begin(), texts.end(), is_flat);
  for (const auto& [with, tags] : numbers) {
    count += std::count_if(tags.begin(), tags.end(), is_flat);
  }
  return count;
}

}  // namespace heapgauge::pprof
