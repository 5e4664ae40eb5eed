#include "core/fold/rows_in_tree.h"

#include <unordered_map>

#include "core/base/large_memory.h"

namespace heapgauge {
namespace {

// The calls of the look, below those that lead to it.
class Calls {
 public:
  explicit Calls(const StackTree::View& view)
      : above_(static_cast<uint32_t>(view.path.size() - 1)) {
    for (uint32_t i = 0; i < above_; ++i) Add(i, view.path[i + 1].entity, i + 1);
    entity_.push_back(kNone);  // the root of all
    for (uint32_t i = 1; i <= above_; ++i) entity_.push_back(view.path[i].entity);
    for (uint32_t i = 1; i < view.nodes.size(); ++i) {
      Add(above_ + view.nodes[i].parent, view.nodes[i].entity, above_ + i);
      entity_.push_back(view.nodes[i].entity);
    }
  }

  // A place on the way of a stack through the tree. Once it has left the calls that are known it
  // stays in the last of them.
  class Place {  // small: there is one for each node of the trie
   public:
    uint32_t call() const { return call_and_left_ >> 1; }
    bool left() const { return (call_and_left_ & 1) != 0; }
    void Enter(uint32_t call) { call_and_left_ = call << 1; }
    void Leave() { call_and_left_ |= 1; }

   private:
    uint32_t call_and_left_ = 0;
  };

  void Enter(EntityId entity, Place* place) const {
    if (place->left()) return;
    // A function that calls itself is one call; the root is nobody's.
    if (place->call() != 0 && entity_[place->call()] == entity) return;
    const auto next = next_.find(Key(place->call(), entity));
    if (next == next_.end()) {
      place->Leave();
    } else {
      place->Enter(next->second);
    }
  }

  // In the list of the look.
  uint32_t NodeOf(const Place& place) const {
    return place.call() < above_ ? kNone : place.call() - above_;
  }

 private:
  static uint64_t Key(uint32_t call, EntityId entity) { return uint64_t{call} << 32 | entity; }
  void Add(uint32_t parent, EntityId entity, uint32_t call) {
    next_.emplace(Key(parent, entity), call);
  }

  const uint32_t above_;
  std::unordered_map<uint64_t, uint32_t> next_;
  std::vector<EntityId> entity_;
};

}  // namespace

std::vector<uint32_t> RowsInTree(const Groundwork& groundwork, const Entities& entities,
                                 const StackTree::View& view, const std::vector<bool>& rows,
                                 bool callers) {
  const Profile& profile = groundwork.profile();
  std::vector<uint32_t> node_of_row(profile.rows.size(), kNone);
  if (!view.found) return node_of_row;
  const Calls calls(view);
  const std::vector<FramePlace>& flat_frames = groundwork.flat_frames();
  // Through the frames of a node of the trie, from outside as far as the `last`.
  const auto inwards = [&](NodeId node, uint32_t last, Calls::Place* place) {
    const LocationId location = profile.nodes[node].location;
    for (uint32_t k = profile.locations[location].frame_count; k-- > last && !place->left();) {
      calls.Enter(entities.Of(location, k), place);
    }
  };
  std::vector<Calls::Place> behind;  // by node of the trie
  if (!callers) {
    ReserveHuge(profile.nodes.size(), &behind);
    for (NodeId node = 0; node < profile.nodes.size(); ++node) {
      const NodeId parent = profile.nodes[node].parent;
      behind.push_back(parent == kNone ? Calls::Place() : behind[parent]);
      if (!behind.back().left()) inwards(node, 0, &behind.back());
    }
  }
  for (RowId row = 0; row < node_of_row.size(); ++row) {
    if (!rows[row]) continue;
    const FramePlace flat = flat_frames[row];
    Calls::Place place;
    if (flat.node == kNone) {
      calls.Enter(kNone, &place);
    } else if (callers) {
      uint32_t k = flat.k;
      for (NodeId node = flat.node; node != kNone && !place.left();
           node = profile.nodes[node].parent, k = 0) {
        const LocationId location = profile.nodes[node].location;
        for (; k < profile.locations[location].frame_count; ++k) {
          calls.Enter(entities.Of(location, k), &place);
        }
      }
    } else {
      const NodeId parent = profile.nodes[flat.node].parent;
      if (parent != kNone) place = behind[parent];
      inwards(flat.node, flat.k, &place);
    }
    node_of_row[row] = calls.NodeOf(place);
  }
  return node_of_row;
}

}  // namespace heapgauge
