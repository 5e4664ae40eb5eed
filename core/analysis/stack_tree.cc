#include "core/analysis/stack_tree.h"

#include <algorithm>
#include <queue>
#include <string>

#include "core/analysis/allocation_frames.h"

namespace heapgauge {
namespace {

constexpr int kStepBits = 36;

// The heaviest first; of two as heavy the one that was made first.
struct Candidate {
  double value;
  uint32_t node;
  bool operator<(const Candidate& other) const {
    return value != other.value ? value < other.value : node > other.node;
  }
};

// Parents first, the heaviest child first.
std::vector<StackTree::Node> InOrder(const std::vector<StackTree::Node>& made) {
  std::vector<std::vector<uint32_t>> children(made.size());
  for (uint32_t i = 1; i < made.size(); ++i) children[made[i].parent].push_back(i);
  std::vector<StackTree::Node> ordered;
  std::vector<std::pair<uint32_t, uint32_t>> to_visit{{0, kNone}};  // node, parent in `ordered`
  while (!to_visit.empty()) {
    const auto [at, parent] = to_visit.back();
    to_visit.pop_back();
    const auto here = static_cast<uint32_t>(ordered.size());
    ordered.push_back(made[at]);
    ordered.back().parent = parent;
    std::sort(children[at].begin(), children[at].end(), [&](uint32_t a, uint32_t b) {
      return made[a].value != made[b].value ? made[a].value < made[b].value : a > b;
    });
    for (const uint32_t child : children[at]) to_visit.emplace_back(child, here);
  }
  return ordered;
}

}  // namespace

Step StepOf(const Profile& profile, const Entities& entities, EntityId id) {
  const std::string identity = id == kNone ? std::string() : IdentityOf(profile, entities, id);
  uint64_t hash = 14695981039346656037ull;
  for (const char c : identity) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  hash ^= hash >> 29;
  return (hash * 0x9e3779b97f4a7c15ull) >> (64 - kStepBits);
}

// Finds the children of nodes, one node at a time.
class StackTree::Opener {
 public:
  explicit Opener(const StackTree& tree)
      : tree_(tree), child_of_(tree.entities_.size() + 1, kNone) {}

  Made Root() const {
    Made root;
    root.node.value = tree_.total_;
    if (!tree_.callers_) return root;
    for (RowId row = 0; row < tree_.flat_.size(); ++row) {
      if (tree_.flat_[row].node != kNone) root.spots.push_back({tree_.flat_[row], row});
    }
    return root;
  }

  // The children of a node. Takes its spots away.
  std::vector<Made> Open(bool is_root, Made* parent) {
    children_.clear();
    if (is_root && tree_.unreadable_ > 0) Child(kNone, kNone).node.value += tree_.unreadable_;
    if (tree_.callers_) {
      for (const Spot& spot : parent->spots) StepOut(spot);
    } else {
      StepIn(is_root, parent);
    }
    parent->spots = {};
    parent->node.opened = true;
    parent->node.self = parent->node.value;
    for (const Made& child : children_) {
      parent->node.self -= child.node.value;
      Slot(child.node.entity) = kNone;
    }
    if (parent->node.self < 0) parent->node.self = 0;  // what rounding left
    return std::move(children_);
  }

 private:
  uint32_t& Slot(EntityId entity) { return entity == kNone ? child_of_.back() : child_of_[entity]; }

  Made& Child(EntityId entity, uint32_t frame) {
    uint32_t& slot = Slot(entity);
    if (slot == kNone) {
      slot = static_cast<uint32_t>(children_.size());
      children_.emplace_back();
      Node& node = children_.back().node;
      node.entity = entity;
      node.frame = frame;
      node.inlined = frame != kNone && tree_.profile_.frames[frame].inlined;
    }
    return children_[slot];
  }

  uint32_t FrameAt(const FramePlace& at) const {
    return tree_.profile_.locations[tree_.profile_.nodes[at.node].location].first_frame + at.k;
  }

  void Join(uint32_t frame_id, Node* node) const {
    const Frame& frame = tree_.profile_.frames[frame_id];
    node->inlined = node->inlined && frame.inlined;
    node->lines_differ =
        node->lines_differ || tree_.profile_.frames[node->frame].line != frame.line;
  }

  // Outwards: a row enters its next frame, and all behind it that are the same.
  void StepOut(Spot spot) {
    if (spot.at.node == kNone) return;  // the end of the stack
    const EntityId entity = tree_.EntityAt(spot.at);
    Made& child = Child(entity, FrameAt(spot.at));
    Join(FrameAt(spot.at), &child.node);
    for (Advance(&spot.at); spot.at.node != kNone && tree_.EntityAt(spot.at) == entity;
         Advance(&spot.at)) {
      child.node.recursive = !tree_.entities_.joins_calls();
      Join(FrameAt(spot.at), &child.node);
    }
    child.node.value += tree_.row_values_[spot.row];
    child.spots.push_back(spot);
  }

  void Advance(FramePlace* at) const {
    ++at->k;
    while (at->node != kNone && at->k >= tree_.FramesAt(at->node)) {
      *at = {tree_.profile_.nodes[at->node].parent, 0};
    }
  }

  // Inwards: what each place calls; calls of itself belong to the node.
  void StepIn(bool is_root, Made* parent) {
    work_ = std::move(parent->spots);
    if (is_root) EnterAll(tree_.first_root_, &parent->node);
    while (!work_.empty()) {
      const Spot spot = work_.back();
      work_.pop_back();
      if (spot.at.k > 0) {
        Enter({{spot.at.node, spot.at.k - 1}, kNone}, &parent->node);
      } else {
        EnterAll(tree_.first_child_[spot.at.node], &parent->node);
      }
    }
  }

  void EnterAll(NodeId first, Node* parent) {
    for (NodeId node = first; node != kNone; node = tree_.next_sibling_[node]) {
      const uint32_t frames = tree_.FramesAt(node);
      if (frames > 0) {
        Enter({{node, frames - 1}, kNone}, parent);
      } else {
        work_.push_back({{node, 0}, kNone});  // nobody knows what it is: on to what it calls
      }
    }
  }

  void Enter(const Spot& spot, Node* parent) {
    const double value = tree_.ValueAt(spot);
    if (!(value > 0)) return;
    const EntityId entity = tree_.EntityAt(spot.at);
    if (parent->entity == entity) {
      parent->recursive = !tree_.entities_.joins_calls();
      Join(FrameAt(spot.at), parent);
      work_.push_back(spot);
      return;
    }
    Made& child = Child(entity, FrameAt(spot.at));
    Join(FrameAt(spot.at), &child.node);
    child.node.value += value;
    child.spots.push_back(spot);
  }

  const StackTree& tree_;
  std::vector<uint32_t> child_of_;  // by entity, while a node is opened
  std::vector<Made> children_;
  std::vector<Spot> work_;
};

StackTree::StackTree(const Profile& profile, const Entities& entities,
                     std::vector<double> row_values, bool callers)
    : profile_(profile),
      entities_(entities),
      row_values_(std::move(row_values)),
      callers_(callers),
      flat_(profile.rows.size()) {
  const std::vector<uint32_t> allocation_frames = CountAllocationFrames(profile);
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    if (!(row_values_[row] > 0)) continue;
    total_ += row_values_[row];
    flat_[row] = FlatFrame(profile, row, allocation_frames);
    if (flat_[row].node == kNone) unreadable_ += row_values_[row];
  }
  if (!callers_) AddUp();
}

void StackTree::AddUp() {
  const size_t count = profile_.nodes.size();
  below_.resize(count);
  for (RowId row = 0; row < flat_.size(); ++row) {
    const FramePlace& at = flat_[row];
    if (at.node == kNone) continue;
    below_[at.node] += row_values_[row];
    if (at.k > 0) ends_early_.emplace_back(at.node, at.k);
  }
  // Rows that end in a node end at the same frame of it, which depends on its location alone.
  std::sort(ends_early_.begin(), ends_early_.end());
  ends_early_.erase(std::unique(ends_early_.begin(), ends_early_.end()), ends_early_.end());
  first_child_.assign(count, kNone);
  next_sibling_.assign(count, kNone);
  for (size_t i = count; i-- > 0;) {
    if (!(below_[i] > 0)) continue;
    const auto node = static_cast<NodeId>(i);
    const NodeId parent = profile_.nodes[node].parent;
    NodeId& first = parent == kNone ? first_root_ : first_child_[parent];
    next_sibling_[node] = first;
    first = node;
    if (parent != kNone) below_[parent] += below_[node];
  }
}

double StackTree::ValueAt(const Spot& spot) const {
  const NodeId node = spot.at.node;
  const auto early =
      std::lower_bound(ends_early_.begin(), ends_early_.end(), std::pair(node, uint32_t{0}));
  const bool ended =
      early != ends_early_.end() && early->first == node && spot.at.k < early->second;
  if (!ended) return below_[node];
  // Further in there is only what it calls.
  double called = 0;
  for (NodeId child = first_child_[node]; child != kNone; child = next_sibling_[child]) {
    called += below_[child];
  }
  return called;
}

std::vector<StackTree::Made> StackTree::Follow(const std::vector<Step>& path,
                                               Opener* opener) const {
  std::vector<Made> made;
  made.push_back(opener->Root());
  for (const Step step : path) {
    std::vector<Made> children = opener->Open(made.size() == 1, &made.back());
    const Made* found = nullptr;
    for (const Made& child : children) {
      if (StepOf(profile_, entities_, child.node.entity) != step) continue;
      if (found == nullptr || child.node.value > found->node.value) found = &child;
    }
    if (found == nullptr) break;
    Made next = *found;
    next.node.parent = static_cast<uint32_t>(made.size() - 1);
    next.node.depth = made.size();
    made.push_back(std::move(next));
  }
  return made;
}

StackTree::View StackTree::Look(const Question& question) const {
  Opener opener(*this);
  std::vector<Made> way = Follow(question.path, &opener);
  View view;
  view.found = way.size() == question.path.size() + 1;
  for (const Made& made : way) view.path.push_back(made.node);
  if (!view.found) return view;
  std::vector<Made> made;
  made.push_back(std::move(way.back()));
  made[0].node.parent = kNone;
  made[0].node.depth = 0;
  std::priority_queue<Candidate> heaviest;
  heaviest.push({made[0].node.value, 0});
  while (!heaviest.empty()) {
    const uint32_t at = heaviest.top().node;
    heaviest.pop();
    if (made[at].node.depth >= question.depth || view.cut) continue;
    std::vector<Made> children = opener.Open(question.path.empty() && at == 0, &made[at]);
    std::sort(children.begin(), children.end(), [](const Made& a, const Made& b) {
      return a.node.value != b.node.value ? a.node.value > b.node.value
                                          : a.node.entity < b.node.entity;
    });
    for (Made& child : children) {
      if (child.node.value < question.least) continue;
      if (made.size() >= question.most) {
        view.cut = true;
        break;
      }
      child.node.parent = at;
      child.node.depth = made[at].node.depth + 1;
      heaviest.push({child.node.value, static_cast<uint32_t>(made.size())});
      made.push_back(std::move(child));
    }
  }
  std::vector<Node> nodes;
  nodes.reserve(made.size());
  for (const Made& one : made) nodes.push_back(one.node);
  view.nodes = InOrder(nodes);
  return view;
}

std::vector<bool> StackTree::RowsBelow(const std::vector<Step>& path) const {
  std::vector<bool> rows(profile_.rows.size());
  Opener opener(*this);
  const std::vector<Made> way = Follow(path, &opener);
  if (way.size() != path.size() + 1) return rows;
  if (path.empty()) {
    for (RowId row = 0; row < rows.size(); ++row) rows[row] = row_values_[row] > 0;
    return rows;
  }
  const Made& at = way.back();
  if (at.node.entity == kNone) {
    for (RowId row = 0; row < rows.size(); ++row) {
      rows[row] = row_values_[row] > 0 && flat_[row].node == kNone;
    }
    return rows;
  }
  if (callers_) {
    for (const Spot& spot : at.spots) rows[spot.row] = true;
    return rows;
  }
  // From which frame inwards a node of the trie belongs to it; 0 and everything above: all.
  constexpr uint32_t kOutside = ~uint32_t{0};
  std::vector<uint32_t> inside(profile_.nodes.size(), kOutside);
  for (const Spot& spot : at.spots) inside[spot.at.node] = spot.at.k;
  for (NodeId node = 0; node < inside.size(); ++node) {
    const NodeId parent = profile_.nodes[node].parent;
    if (parent != kNone && inside[parent] != kOutside) inside[node] = FramesAt(node);
  }
  for (RowId row = 0; row < rows.size(); ++row) {
    const FramePlace& flat = flat_[row];
    rows[row] = flat.node != kNone && inside[flat.node] != kOutside && flat.k <= inside[flat.node];
  }
  return rows;
}

}  // namespace heapgauge
