#include "core/fold/pruned_tree.h"

#include <algorithm>
#include <queue>
#include <utility>

namespace heapgauge {
namespace {

// Children of all nodes, one list behind the other.
struct Children {
  std::vector<uint32_t> first;  // by node, and one more
  std::vector<uint32_t> list;
};

Children ChildrenOf(const CallTree& tree) {
  Children children;
  children.first.resize(tree.nodes.size() + 1);
  for (size_t i = 1; i < tree.nodes.size(); ++i) ++children.first[tree.nodes[i].parent + 1];
  for (size_t i = 1; i < children.first.size(); ++i) children.first[i] += children.first[i - 1];
  children.list.resize(tree.nodes.empty() ? 0 : tree.nodes.size() - 1);
  std::vector<uint32_t> next(children.first.begin(), children.first.end() - 1);
  for (uint32_t i = 1; i < tree.nodes.size(); ++i) {
    children.list[next[tree.nodes[i].parent]++] = i;
  }
  return children;
}

// What a node and all below it have.
struct Held {
  double value = 0;    // in terms of the sort key
  double objects = 0;  // blocks may have no bytes

  bool any() const { return value > 0 || (value == 0 && objects > 0); }
};

std::vector<Held> HeldBy(const CallTree& tree, const std::vector<HeapFigures>& row_figures,
                         SortKey sort) {
  std::vector<Held> held(tree.nodes.size());
  for (size_t row = 0; row < row_figures.size(); ++row) {
    if (tree.node_of_row[row] == kNone) continue;
    const HeapFigures& f = row_figures[row];
    Held& at = held[tree.node_of_row[row]];
    at.value += SortValue(f, sort, 0);
    at.objects += sort == SortKey::kAllocated ? f.allocated_objects : f.live_objects;
  }
  for (size_t i = held.size(); i-- > 1;) {
    Held& above = held[tree.nodes[i].parent];
    above.value += held[i].value;
    above.objects += held[i].objects;
  }
  return held;
}

// The heaviest nodes, parents before children; a node whose parent is not kept is not kept.
std::vector<bool> Keep(const CallTree& tree, const Children& children,
                       const std::vector<Held>& held, const PruneOptions& options) {
  std::vector<bool> keep(tree.nodes.size());
  const double least = held[0].value * options.least;
  struct Candidate {
    double value;
    uint32_t node;
    uint32_t depth;
    bool operator<(const Candidate& other) const {
      return value != other.value ? value < other.value : node > other.node;
    }
  };
  std::priority_queue<Candidate> heaviest;
  heaviest.push({held[0].value, 0, 0});
  for (size_t kept = 0; !heaviest.empty() && kept < options.max_nodes; ++kept) {
    const Candidate at = heaviest.top();
    heaviest.pop();
    keep[at.node] = true;
    if (options.depth != 0 && at.depth >= options.depth) continue;
    for (uint32_t i = children.first[at.node]; i < children.first[at.node + 1]; ++i) {
      const uint32_t child = children.list[i];
      if (held[child].any() && held[child].value >= least) {
        heaviest.push({held[child].value, child, at.depth + 1});
      }
    }
  }
  return keep;
}

}  // namespace

PrunedTree Prune(const CallTree& tree, const std::vector<HeapFigures>& row_figures,
                 const PruneOptions& options) {
  PrunedTree pruned;
  if (tree.nodes.empty()) return pruned;
  Children children = ChildrenOf(tree);
  const std::vector<Held> held = HeldBy(tree, row_figures, options.sort);
  const std::vector<bool> keep = Keep(tree, children, held, options);

  std::vector<uint32_t> place(tree.nodes.size(), kNone);            // in the pruned list
  std::vector<std::pair<uint32_t, uint32_t>> to_visit{{0, kNone}};  // node, pruned parent
  while (!to_visit.empty()) {
    const auto [node, parent] = to_visit.back();
    to_visit.pop_back();
    const uint32_t here = static_cast<uint32_t>(pruned.nodes.size());
    place[node] = here;
    PrunedTree::Node made;
    made.parent = parent;
    made.in_tree = node;
    made.depth = parent == kNone ? 0 : pruned.nodes[parent].depth + 1;
    const auto begin = children.list.begin() + children.first[node];
    const auto end = children.list.begin() + children.first[node + 1];
    const auto kept_end = std::partition(begin, end, [&](uint32_t child) { return keep[child]; });
    // The last to be pushed is visited first.
    std::sort(begin, kept_end, [&](uint32_t a, uint32_t b) {
      return held[a].value != held[b].value ? held[a].value < held[b].value : a > b;
    });
    for (auto child = begin; child != kept_end; ++child) to_visit.emplace_back(*child, here);
    made.children = static_cast<size_t>(kept_end - begin);
    for (auto child = kept_end; child != end; ++child) {
      if (!held[*child].any()) continue;  // nothing there to miss
      ++made.folded;
      made.folded_value += held[*child].value;
    }
    pruned.nodes.push_back(made);
  }

  // The nearest ancestor that is shown, and whether a row that ends here was folded away.
  std::vector<uint32_t> shown(tree.nodes.size());
  for (uint32_t i = 0; i < tree.nodes.size(); ++i) {
    shown[i] = place[i] != kNone ? place[i] : shown[tree.nodes[i].parent];
  }
  for (size_t row = 0; row < row_figures.size(); ++row) {
    const uint32_t node = tree.node_of_row[row];
    if (node == kNone) continue;
    PrunedTree::Node& at = pruned.nodes[shown[node]];
    at.figures.Add(row_figures[row]);
    if (place[node] == kNone) at.folded_figures.Add(row_figures[row]);
  }
  for (size_t i = pruned.nodes.size(); i-- > 1;) {
    pruned.nodes[pruned.nodes[i].parent].figures.Add(pruned.nodes[i].figures);
  }
  return pruned;
}

}  // namespace heapgauge
