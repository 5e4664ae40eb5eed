#include "core/fold/call_tree.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "core/base/lookup_tables.h"
#include "core/fold/frames.h"
#include "core/fold/functions.h"

namespace heapgauge {
namespace {

void Join(const Profile& profile, uint32_t frame_id, CallTree::Node* node) {
  const Frame& frame = profile.frames[frame_id];
  node->inlined = node->inlined && frame.inlined;
  node->lines_differ = node->lines_differ || profile.frames[node->frame].line != frame.line;
}

class Builder {
 public:
  Builder(const Profile& profile, const Entities& entities, CallTree* tree)
      : profile_(profile), entities_(entities), tree_(tree), index_(profile.nodes.size()) {
    tree_->nodes.emplace_back();
    below_.resize(profile.nodes.size(), kNone);
  }

  // The tree's node for everything from the outermost frame to all frames of `node`.
  uint32_t Below(NodeId node) {
    if (node == kNone) return 0;
    path_.clear();
    while (node != kNone && below_[node] == kNone) {
      path_.push_back(node);
      node = profile_.nodes[node].parent;
    }
    uint32_t at = node == kNone ? 0 : below_[node];
    for (size_t i = path_.size(); i-- > 0;) {
      at = EnterInner(at, profile_.nodes[path_[i]].location, 0);
      below_[path_[i]] = at;
    }
    return at;
  }

  // Enters the frames of a location from the outermost one in to frame `k`.
  uint32_t EnterInner(uint32_t at, LocationId location, uint32_t k) {
    for (uint32_t i = profile_.locations[location].frame_count; i-- > k;) {
      at = Enter(at, location, i);
    }
    return at;
  }

  uint32_t Enter(uint32_t parent, LocationId location, uint32_t k) {
    const EntityId entity = entities_.Of(location, k);
    const uint32_t frame_id = profile_.locations[location].first_frame + k;
    if (parent != 0 && tree_->nodes[parent].entity == entity) {
      CallTree::Node& node = tree_->nodes[parent];
      node.recursive = !entities_.joins_calls();
      Join(profile_, frame_id, &node);
      return parent;
    }
    const auto next = static_cast<uint32_t>(tree_->nodes.size());
    const uint32_t at = index_.Find(parent, entity, next);
    if (at == next) {
      tree_->nodes.push_back(
          {parent, entity, frame_id, false, profile_.frames[frame_id].inlined, false});
    } else {
      Join(profile_, frame_id, &tree_->nodes[at]);
    }
    return at;
  }

  uint32_t EnterUnknown() {
    const auto next = static_cast<uint32_t>(tree_->nodes.size());
    const uint32_t at = index_.Find(0, kNone, next);
    if (at == next) tree_->nodes.push_back({0, kNone, kNone, false, false, false});
    return at;
  }

 private:
  const Profile& profile_;
  const Entities& entities_;
  CallTree* tree_;
  PairIndex index_;              // by parent and entity
  std::vector<uint32_t> below_;  // by node of the profile
  std::vector<NodeId> path_;
};

// A row on its way from what allocates outwards.
struct Walk {
  RowId row = kNone;
  FramePlace next;  // the frame it has not entered yet; node kNone at the end
};

// Grows the tree of callers, one node's children at a time.
class CallersBuilder {
 public:
  CallersBuilder(const Profile& profile, const Entities& entities,
                 const std::vector<double>& row_values, CallTree* tree)
      : profile_(profile),
        entities_(entities),
        row_values_(row_values),
        tree_(tree),
        child_of_(entities.size() + 1, kNone) {
    tree_->nodes.emplace_back();
    walks_.emplace_back();
  }

  void Add(const Walk& walk) { walks_[0].push_back(walk); }

  double ValueOf(uint32_t node) const {
    double value = 0;
    for (const Walk& walk : walks_[node]) value += row_values_[walk.row];
    return value;
  }

  // Makes the children of a node; returns the first, the others follow it.
  uint32_t Expand(uint32_t parent) {
    const auto first = static_cast<uint32_t>(tree_->nodes.size());
    std::vector<Walk> walks;
    walks.swap(walks_[parent]);
    for (Walk& walk : walks) {
      if (walk.next.node == kNone) {
        // The end of the stack; at the root, one that cannot be read.
        if (parent != 0) continue;
        tree_->node_of_row[walk.row] = Child(0, kNone, kNone);
        continue;
      }
      const EntityId entity = EntityAt(walk.next);
      const uint32_t child = Child(parent, entity, FrameAt(walk.next));
      tree_->node_of_row[walk.row] = child;
      CallTree::Node& node = tree_->nodes[child];
      Join(profile_, FrameAt(walk.next), &node);
      for (Advance(&walk.next); walk.next.node != kNone && EntityAt(walk.next) == entity;
           Advance(&walk.next)) {
        node.recursive = !entities_.joins_calls();
        Join(profile_, FrameAt(walk.next), &node);
      }
      walks_[child].push_back(walk);
    }
    for (size_t i = first; i < tree_->nodes.size(); ++i) ChildSlot(tree_->nodes[i].entity) = kNone;
    return first;
  }

 private:
  uint32_t& ChildSlot(EntityId entity) {
    return entity == kNone ? child_of_.back() : child_of_[entity];
  }

  uint32_t Child(uint32_t parent, EntityId entity, uint32_t frame) {
    uint32_t& child = ChildSlot(entity);
    if (child == kNone) {
      child = static_cast<uint32_t>(tree_->nodes.size());
      const bool inlined = frame != kNone && profile_.frames[frame].inlined;
      tree_->nodes.push_back({parent, entity, frame, false, inlined, false});
      walks_.emplace_back();
    }
    return child;
  }

  EntityId EntityAt(const FramePlace& at) const {
    return entities_.Of(profile_.nodes[at.node].location, at.k);
  }
  uint32_t FrameAt(const FramePlace& at) const {
    return profile_.locations[profile_.nodes[at.node].location].first_frame + at.k;
  }
  void Advance(FramePlace* at) const {
    ++at->k;
    while (at->node != kNone &&
           at->k >= profile_.locations[profile_.nodes[at->node].location].frame_count) {
      *at = {profile_.nodes[at->node].parent, 0};
    }
  }

  const Profile& profile_;
  const Entities& entities_;
  const std::vector<double>& row_values_;
  CallTree* tree_;
  std::vector<uint32_t> child_of_;        // by entity, while a node is expanded
  std::vector<std::vector<Walk>> walks_;  // by node, until it is expanded
};

}  // namespace

CallTree BuildCallTree(const Profile& profile, const Entities& entities,
                       const std::vector<bool>& selected) {
  CallTree tree;
  Builder builder(profile, entities, &tree);
  const std::vector<uint32_t> allocation_frames = CountAllocationFrames(profile);
  tree.node_of_row.resize(profile.rows.size(), kNone);
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    if (!selected[row]) continue;
    const FramePlace flat = FlatFrame(profile, row, allocation_frames);
    if (flat.node == kNone) {
      tree.node_of_row[row] = builder.EnterUnknown();
      continue;
    }
    const Node& inner = profile.nodes[flat.node];
    tree.node_of_row[row] = builder.EnterInner(builder.Below(inner.parent), inner.location, flat.k);
  }
  return tree;
}

CallTree BuildCallersTree(const Profile& profile, const Entities& entities,
                          const std::vector<bool>& selected, const std::vector<double>& row_values,
                          const CallersOptions& options) {
  CallTree tree;
  tree.node_of_row.resize(profile.rows.size(), kNone);
  CallersBuilder builder(profile, entities, row_values, &tree);
  const std::vector<uint32_t> allocation_frames = CountAllocationFrames(profile);
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    if (selected[row]) builder.Add({row, FlatFrame(profile, row, allocation_frames)});
  }
  struct Candidate {
    double value;
    uint32_t node;
    size_t depth;
    bool operator<(const Candidate& other) const {
      return value != other.value ? value < other.value : node > other.node;
    }
  };
  std::priority_queue<Candidate> heaviest;
  const double total = builder.ValueOf(0);
  heaviest.push({total, 0, 0});
  for (size_t made = 0; !heaviest.empty() && made < options.max_nodes; ++made) {
    const Candidate at = heaviest.top();
    heaviest.pop();
    const uint32_t first = builder.Expand(at.node);
    if (options.depth != 0 && at.depth >= options.depth) continue;
    for (uint32_t child = first; child < tree.nodes.size(); ++child) {
      const double value = builder.ValueOf(child);
      // Blocks of 0 bytes are something, too.
      if (value >= 0 && value >= total * options.least) heaviest.push({value, child, at.depth + 1});
    }
  }
  return tree;
}

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
