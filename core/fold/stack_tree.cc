#include "core/fold/stack_tree.h"

#include <algorithm>
#include <bit>
#include <queue>
#include <string>
#include <utility>

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
    tree_.total_.AddTo(&root.node);
    if (tree_.is_through()) {
      Center(&root);
      return root;
    }
    if (!tree_.options_.callers) return root;
    for (RowId row = 0; row < tree_.flat_.size(); ++row) {
      if (tree_.flat_[row].node != kNone) root.spots.push_back({tree_.flat_[row], row});
    }
    return root;
  }

  // The children of a node. Takes its spots away.
  std::vector<Made> Open(bool is_root, Made* parent) {
    children_.clear();
    const bool all = is_root && !tree_.is_through();
    if (all && tree_.unreadable_.value > 0) tree_.unreadable_.AddTo(&Child(kNone, kNone).node);
    if (tree_.options_.callers) {
      for (const Spot& spot : parent->spots) StepOut(spot);
    } else {
      StepIn(all, parent);
    }
    parent->spots = {};
    parent->node.opened = true;
    parent->node.self = parent->node.value;
    parent->node.children = static_cast<uint32_t>(children_.size());
    for (const Made& child : children_) {
      parent->node.self -= child.node.value;
      Slot(child.node.entity) = kNone;
    }
    if (parent->node.self < 0) parent->node.self = 0;  // what rounding left
    return std::move(children_);
  }

 private:
  // The root of a tree that begins at some functions.
  void Center(Made* root) const {
    for (uint32_t i = 0; i < tree_.centers_.size(); ++i) {
      Spot spot{tree_.centers_[i], i};
      const EntityId entity = tree_.EntityAt(spot.at);
      if (i == 0) {
        root->node.entity = entity;
        root->node.frame = FrameAt(spot.at);
        root->node.inlined = tree_.profile_.frames[root->node.frame].inlined;
      }
      Join(FrameAt(spot.at), &root->node);
      if (root->node.entity != entity) root->node.entity = kNone;  // of several
      if (tree_.options_.callers) Advance(&spot.at);
      root->spots.push_back(spot);
    }
  }

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
    tree_.SumFrom(spot.start).AddTo(&child.node);
    child.spots.push_back(spot);
  }

  void Advance(FramePlace* at) const {
    ++at->k;
    while (at->node != kNone && at->k >= tree_.FramesAt(at->node)) {
      *at = {tree_.profile_.nodes[at->node].parent, 0};
    }
  }

  // Inwards: what each place calls; calls of itself belong to the node.
  void StepIn(bool all, Made* parent) {
    work_ = std::move(parent->spots);
    for (size_t i = 0; all && i < tree_.roots_.size(); ++i) {
      EnterNode(tree_.roots_[i], kNone, &parent->node);
    }
    while (!work_.empty()) {
      const Spot spot = work_.back();
      work_.pop_back();
      // The root of a tree that begins at several functions has places of each.
      const EntityId caller =
          tree_.FramesAt(spot.at.node) > 0 ? tree_.EntityAt(spot.at) : parent->node.entity;
      if (spot.at.k > 0) {
        Enter({{spot.at.node, spot.at.k - 1}, kNone}, caller, &parent->node);
      } else {
        tree_.ForEachChild(spot.at.node,
                           [&](NodeId child) { EnterNode(child, caller, &parent->node); });
      }
    }
  }

  void EnterNode(NodeId node, EntityId caller, Node* parent) {
    const uint32_t frames = tree_.FramesAt(node);
    if (frames > 0) {
      Enter({{node, frames - 1}, kNone}, caller, parent);
    } else {
      work_.push_back({{node, 0}, kNone});  // nobody knows what it is: on to what it calls
    }
  }

  void Enter(const Spot& spot, EntityId caller, Node* parent) {
    const Sum sum = tree_.SumAt(spot.at);
    if (!(sum.value > 0)) return;
    const EntityId entity = tree_.EntityAt(spot.at);
    if (caller == entity) {
      parent->recursive = !tree_.entities_.joins_calls();
      Join(FrameAt(spot.at), parent);
      work_.push_back(spot);
      return;
    }
    Made& child = Child(entity, FrameAt(spot.at));
    Join(FrameAt(spot.at), &child.node);
    sum.AddTo(&child.node);
    child.spots.push_back(spot);
  }

  const StackTree& tree_;
  std::vector<uint32_t> child_of_;  // by entity, while a node is opened
  std::vector<Made> children_;
  std::vector<Spot> work_;
};

StackTree::StackTree(const Groundwork& groundwork, const Entities& entities,
                     std::vector<double> row_values, Options options)
    : profile_(groundwork.profile()),
      entities_(entities),
      row_values_(std::move(row_values)),
      options_(std::move(options)),
      flat_(profile_.rows.size()) {
  const std::vector<FramePlace>& flat_frames = groundwork.flat_frames();
  for (RowId row = 0; row < profile_.rows.size(); ++row) {
    if (!(row_values_[row] > 0)) continue;
    total_.Add(RowSum(row));
    flat_[row] = flat_frames[row];
    if (flat_[row].node == kNone) unreadable_.Add(RowSum(row));
  }
  if (!options_.callers || is_through()) AddUp();
  if (is_through()) FindCenters();
}

StackTree::Sum StackTree::RowSum(RowId row) const {
  Sum sum{row_values_[row], 0, 0};
  if (!options_.sides.empty()) {
    sum.before = options_.sides[row].before;
    sum.after = options_.sides[row].after;
  }
  return sum;
}

StackTree::Sum StackTree::AtKnot(size_t knot) const {
  if (sides_below_.empty()) return {below_[knot], 0, 0};
  return {below_[knot], sides_below_[knot].before, sides_below_[knot].after};
}

StackTree::Sum StackTree::SumFrom(uint32_t start) const {
  return is_through() ? center_sums_[start] : RowSum(start);
}

void StackTree::AddUp() {
  const std::vector<heapgauge::Node>& nodes = profile_.nodes;
  holds_ = RankedBits(nodes.size());
  knots_ = RankedBits(nodes.size());
  for (const FramePlace& at : flat_) {
    if (at.node == kNone) continue;
    holds_.Set(at.node);
    knots_.Set(at.node);
    if (at.k > 0) ends_early_.emplace_back(at.node, at.k);
  }
  // Rows that end in a node end at the same frame of it, which depends on its location alone.
  std::sort(ends_early_.begin(), ends_early_.end());
  ends_early_.erase(std::unique(ends_early_.begin(), ends_early_.end()), ends_early_.end());
  std::vector<NodeId> further;  // that are not behind their parents, the last first
  RankedBits apart(nodes.size());
  for (size_t i = nodes.size(); i-- > 0;) {
    if (!holds_[i]) continue;
    const NodeId parent = nodes[i].parent;
    if (parent != kNone) holds_.Set(parent);
    if (parent != kNone && parent + 1 == i) continue;
    apart.Set(i);
    if (parent == kNone) {
      roots_.push_back(static_cast<NodeId>(i));
    } else {
      knots_.Set(parent);
      further.push_back(static_cast<NodeId>(i));
    }
  }
  std::reverse(roots_.begin(), roots_.end());
  knots_.Count();
  first_further_.assign(knots_.ones(), kNone);
  further_.reserve(further.size());
  for (const NodeId child : further) {
    uint32_t& first = first_further_[KnotOf(nodes[child].parent)];
    further_.push_back({child, first});
    first = static_cast<uint32_t>(further_.size() - 1);
  }
  SumUp(apart);
}

void StackTree::SumUp(const RankedBits& apart) {
  below_.resize(knots_.ones());
  if (!options_.sides.empty()) sides_below_.resize(knots_.ones());
  const auto add = [this](size_t knot, const Sum& sum) {
    below_[knot] += sum.value;
    if (sides_below_.empty()) return;
    sides_below_[knot].before += sum.before;
    sides_below_[knot].after += sum.after;
  };
  for (RowId row = 0; row < flat_.size(); ++row) {
    if (flat_[row].node != kNone) add(KnotOf(flat_[row].node), RowSum(row));
  }
  // Children have larger ids, so a knot is complete when its turn comes. What it holds goes to the
  // next knot that it is behind, or from the first node of its run to the parent of that.
  size_t knot = knots_.ones();
  bool carries = false;
  Sum carried;
  for (size_t word = apart.words(); word-- > 0;) {
    for (uint64_t left = knots_.word(word) | apart.word(word); left != 0;) {
      const int bit = 63 - std::countl_zero(left);
      left &= ~(uint64_t{1} << bit);
      const size_t node = word * 64 + static_cast<size_t>(bit);
      if (knots_[node]) {
        if (carries) add(knot - 1, carried);
        carried = AtKnot(--knot);
        carries = true;
      }
      if (!apart[node]) continue;
      carries = false;
      const NodeId parent = profile_.nodes[node].parent;
      if (parent != kNone) add(KnotOf(parent), carried);
    }
  }
}

void StackTree::FindCenters() {
  std::vector<bool> inside(profile_.nodes.size());
  total_ = {};
  for (NodeId node = 0; node < inside.size(); ++node) {
    if (!holds_[node]) continue;
    const NodeId parent = profile_.nodes[node].parent;
    if (parent != kNone && inside[parent]) {
      inside[node] = true;
      continue;
    }
    for (uint32_t k = FramesAt(node); k-- > 0;) {
      const FramePlace at{node, k};
      if (!options_.through[EntityAt(at)]) continue;
      inside[node] = true;
      const Sum sum = SumAt(at);
      if (sum.value > 0) {
        centers_.push_back(at);
        center_sums_.push_back(sum);
        total_.Add(sum);
      }
      break;
    }
  }
}

StackTree::Sum StackTree::SumAt(const FramePlace& at) const {
  const auto early =
      std::lower_bound(ends_early_.begin(), ends_early_.end(), std::pair(at.node, uint32_t{0}));
  const bool ended = early != ends_early_.end() && early->first == at.node && at.k < early->second;
  if (!ended) return Below(at.node);
  // Further in there is only what it calls.
  Sum called;
  ForEachChild(at.node, [&](NodeId child) { called.Add(Below(child)); });
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
  std::vector<uint32_t> in_open{0};  // by node made: its place in the open paths, or kNone
  const auto may_follow = [&](const Node& child, uint32_t parent, bool is_first) {
    uint32_t place = kNone;
    if (question.open != nullptr && in_open[parent] != kNone) {
      const auto& steps = question.open->nodes[in_open[parent]];
      const auto step = steps.find(StepOf(profile_, entities_, child.entity));
      if (step != steps.end()) place = step->second;
    }
    in_open.push_back(place);
    return (question.open == nullptr || place != kNone) && (is_first || !question.heaviest);
  };
  while (!heaviest.empty()) {
    const uint32_t at = heaviest.top().node;
    heaviest.pop();
    if (made[at].node.depth >= question.depth || view.cut) continue;
    std::vector<Made> children = opener.Open(question.path.empty() && at == 0, &made[at]);
    std::sort(children.begin(), children.end(), [](const Made& a, const Made& b) {
      return a.node.value != b.node.value ? a.node.value > b.node.value
                                          : a.node.entity < b.node.entity;
    });
    bool is_first = true;
    for (Made& child : children) {
      if (child.node.value < question.least) continue;
      if (made.size() >= question.most) {
        view.cut = true;
        break;
      }
      child.node.parent = at;
      child.node.depth = made[at].node.depth + 1;
      if (may_follow(child.node, at, std::exchange(is_first, false))) {
        heaviest.push({child.node.value, static_cast<uint32_t>(made.size())});
      }
      made.push_back(std::move(child));
    }
  }
  std::vector<Node> nodes;
  nodes.reserve(made.size());
  for (size_t i = 0; i < made.size(); ++i) {
    if (question.last_level && !made[i].node.opened) {
      opener.Open(question.path.empty() && i == 0, &made[i]);
    }
    nodes.push_back(made[i].node);
  }
  view.nodes = InOrder(nodes);
  return view;
}

std::vector<bool> StackTree::RowsBelow(const std::vector<Step>& path) const {
  std::vector<bool> rows(profile_.rows.size());
  Opener opener(*this);
  const std::vector<Made> way = Follow(path, &opener);
  if (way.size() != path.size() + 1) return rows;
  if (path.empty() && !is_through()) {
    for (RowId row = 0; row < rows.size(); ++row) rows[row] = row_values_[row] > 0;
    return rows;
  }
  const Made& at = way.back();
  if (at.node.entity == kNone && !is_through()) {
    for (RowId row = 0; row < rows.size(); ++row) {
      rows[row] = row_values_[row] > 0 && flat_[row].node == kNone;
    }
    return rows;
  }
  if (options_.callers && !is_through()) {
    for (const Spot& spot : at.spots) rows[spot.start] = true;
    return rows;
  }
  std::vector<FramePlace> places;
  for (const Spot& spot : at.spots) {
    places.push_back(options_.callers ? centers_[spot.start] : spot.at);
  }
  MarkInside(places, &rows);
  return rows;
}

void StackTree::MarkInside(const std::vector<FramePlace>& places, std::vector<bool>* rows) const {
  // From which frame inwards a node of the trie belongs to it; 0 and everything above: all.
  constexpr uint32_t kOutside = ~uint32_t{0};
  std::vector<uint32_t> inside(profile_.nodes.size(), kOutside);
  for (const FramePlace& at : places) inside[at.node] = at.k;
  for (NodeId node = 0; node < inside.size(); ++node) {
    const NodeId parent = profile_.nodes[node].parent;
    if (parent != kNone && inside[parent] != kOutside) inside[node] = FramesAt(node);
  }
  for (RowId row = 0; row < rows->size(); ++row) {
    const FramePlace& flat = flat_[row];
    if (flat.node == kNone || inside[flat.node] == kOutside) continue;
    (*rows)[row] = flat.k <= inside[flat.node];
  }
}

}  // namespace heapgauge
