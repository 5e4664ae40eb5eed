#include "core/model/stack_builder.h"

namespace heapgauge {
namespace {

size_t HashOf(NodeId parent, LocationId location) {
  uint64_t h = (uint64_t{parent} << 32 | location) * 0x9e3779b97f4a7c15;
  h ^= h >> 29;
  return static_cast<size_t>(h * 0xbf58476d1ce4e5b9 >> 20);
}

}  // namespace

StackBuilder::StackBuilder(Profile* profile) : profile_(profile), slots_(1024) {
  for (NodeId id = 0; id < profile->nodes.size(); ++id) Register(id);
}

NodeId StackBuilder::Child(NodeId parent, LocationId location) {
  const NodeId first = parent == kNone ? first_root_ : first_child_[parent];
  if (first != kNone) {
    if (profile_->nodes[first].location == location) return first;
    const Slot* slot = Find(parent, location);
    if (slot->child != kNone) return slot->child;
  }
  const auto id = static_cast<NodeId>(profile_->nodes.size());
  profile_->nodes.push_back({parent, location});
  Register(id);
  return id;
}

void StackBuilder::Register(NodeId child) {
  const Node node = profile_->nodes[child];
  first_child_.push_back(kNone);
  NodeId& first = node.parent == kNone ? first_root_ : first_child_[node.parent];
  if (first == kNone) {
    first = child;
    return;
  }
  if (profile_->nodes[first].location == node.location) {
    distinct_ = false;
    return;
  }
  if (2 * (used_ + 1) > slots_.size()) Grow();
  Slot* slot = Find(node.parent, node.location);
  if (slot->child != kNone) {
    distinct_ = false;
    return;
  }
  *slot = {node.parent, child};
  ++used_;
}

StackBuilder::Slot* StackBuilder::Find(NodeId parent, LocationId location) {
  const size_t mask = slots_.size() - 1;
  size_t at = HashOf(parent, location) & mask;
  while (slots_[at].child != kNone) {
    if (slots_[at].parent == parent && profile_->nodes[slots_[at].child].location == location) {
      break;
    }
    at = (at + 1) & mask;
  }
  return &slots_[at];
}

void StackBuilder::Grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.child != kNone) *Find(slot.parent, profile_->nodes[slot.child].location) = slot;
  }
}

}  // namespace heapgauge
