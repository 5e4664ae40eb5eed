#include "core/fold/call_tree.h"

#include <queue>

#include "core/base/pair_index.h"
#include "core/fold/allocation_frames.h"
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

}  // namespace heapgauge
