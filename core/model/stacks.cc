#include "core/model/stacks.h"

#include <algorithm>

#include "core/base/large_memory.h"

namespace heapgauge {
namespace {

size_t HashOf(NodeId parent, LocationId location) {
  uint64_t h = (uint64_t{parent} << 32 | location) * 0x9e3779b97f4a7c15;
  h ^= h >> 29;
  return static_cast<size_t>(h * 0xbf58476d1ce4e5b9 >> 20);
}

}  // namespace

StackBuilder::StackBuilder(Profile* profile) : profile_(profile), slots_(1024) {
  const std::vector<Node>& nodes = profile->nodes;
  constexpr NodeId kAhead = 16;
  for (NodeId id = 0; id < nodes.size(); ++id) {
    const NodeId later = id + kAhead;
    if (later < nodes.size() && nodes[later].parent + 1 != later) {
      Prefetch(nodes[later].parent, nodes[later].location);
    }
    Register(id);
  }
  profile->distinct_nodes = distinct();
}

void StackBuilder::Prefetch(NodeId parent, LocationId location) const {
  const NodeId next = parent + 1;
  if (next < profile_->nodes.size()) __builtin_prefetch(&profile_->nodes[next]);
  __builtin_prefetch(&slots_[HashOf(parent, location) & (slots_.size() - 1)]);
}

void StackBuilder::Reserve(size_t count) {
  std::vector<Node>& nodes = profile_->nodes;
  if (nodes.capacity() - nodes.size() >= count) return;
  // Memory that is not used yet costs nothing, moving nodes does: to another place, which the
  // kernel clears first.
  constexpr size_t kTimes = 4;
  ReserveHuge(std::max(kTimes * nodes.capacity(), nodes.size() + count), &nodes);
}

void StackBuilder::Leaves(const std::vector<LocationId>& locations, const std::vector<size_t>& ends,
                          std::vector<NodeId>* leaves) {
  leaves->assign(ends.size(), kNone);
  walks_.clear();
  size_t begin = 0;
  for (size_t i = 0; i < ends.size(); ++i) {
    if (ends[i] > begin) walks_.push_back({i, begin, ends[i] - begin, kNone});
    begin = ends[i];
  }
  // Each round takes every stack one frame further, or to its end if the rest of it is new.
  while (!walks_.empty()) {
    size_t kept = 0;
    for (Walk walk : walks_) {
      const LocationId* stack = locations.data() + walk.begin;
      const NodeId known = Find(walk.node, stack[walk.left - 1]);
      if (known == kNone) {
        (*leaves)[walk.stack] = AttachRun(walk.node, walk.left, stack);
        continue;
      }
      walk.node = known;
      if (--walk.left == 0) {
        (*leaves)[walk.stack] = known;
        continue;
      }
      Prefetch(known, stack[walk.left - 1]);
      walks_[kept++] = walk;
    }
    walks_.resize(kept);
  }
}

NodeId StackBuilder::Attach(NodeId parent, LocationId location) {
  Reserve(1);
  const auto id = static_cast<NodeId>(profile_->nodes.size());
  profile_->nodes.push_back({parent, location});
  Register(id);
  return id;
}

void StackBuilder::Register(NodeId child) {
  const Node node = profile_->nodes[child];
  if (node.parent + 1 == child) return;  // wraps round to 0 for the first of all
  const Node& behind = profile_->nodes[node.parent + 1];
  if (behind.parent == node.parent && behind.location == node.location) {
    distinct_ = false;
    return;
  }
  if (2 * (used_ + 1) > slots_.size()) Grow();
  Slot& slot = slots_[SlotOf(node.parent, node.location)];
  if (slot.child != kNone) {
    distinct_ = false;
    return;
  }
  slot = {node.parent, node.location, child};
  ++used_;
}

size_t StackBuilder::SlotOf(NodeId parent, LocationId location) const {
  const size_t mask = slots_.size() - 1;
  size_t at = HashOf(parent, location) & mask;
  while (slots_[at].child != kNone &&
         (slots_[at].parent != parent || slots_[at].location != location)) {
    at = (at + 1) & mask;
  }
  return at;
}

void StackBuilder::Grow() {
  std::vector<Slot> old;
  ReserveHuge(slots_.size() * 2, &old);
  old.resize(slots_.size() * 2);
  old.swap(slots_);
  constexpr size_t kAhead = 16;
  for (size_t i = 0; i < old.size(); ++i) {
    if (i + kAhead < old.size()) {
      const Slot& later = old[i + kAhead];
      __builtin_prefetch(&slots_[HashOf(later.parent, later.location) & (slots_.size() - 1)], 1);
    }
    const Slot& slot = old[i];
    if (slot.child != kNone) slots_[SlotOf(slot.parent, slot.location)] = slot;
  }
}

}  // namespace heapgauge
