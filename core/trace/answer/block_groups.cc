#include "core/trace/answer/block_groups.h"

#include "core/fold/frames.h"
#include "core/fold/functions.h"

namespace heapgauge::trace {
namespace {

constexpr const char* kNames[] = {"function", "stack", "module", "thread"};

// As FlatFrame, from a leaf.
FramePlace FlatFrameOf(const Profile& profile, NodeId leaf,
                       const std::vector<uint32_t>& allocation_frames) {
  FramePlace last;
  for (NodeId node = leaf; node != kNone; node = profile.nodes[node].parent) {
    const LocationId id = profile.nodes[node].location;
    const uint32_t count = profile.locations[id].frame_count;
    if (allocation_frames[id] < count) return {node, allocation_frames[id]};
    if (count > 0) last = {node, count - 1};
  }
  return last;
}

}  // namespace

const char* GroupByName(GroupBy by) { return kNames[static_cast<size_t>(by)]; }

GroupBy GroupByOf(std::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (name == kNames[i]) return static_cast<GroupBy>(i);
  }
  return GroupBy::kFunction;
}

BlockGroups::BlockGroups(const TraceFile::Stacks& stacks, GroupBy by, size_t threads) : by_(by) {
  if (by == GroupBy::kThread) {
    size_ = static_cast<uint32_t>(threads) + 1;
    return;
  }
  const Profile& profile = stacks.profile;
  entities_ =
      Entities(profile, by == GroupBy::kModule ? Granularity::kModules : Granularity::kFunctions);
  const std::vector<uint32_t> allocation_frames = CountAllocationFrames(profile);
  const auto stack_count = static_cast<uint32_t>(stacks.stacks.size());
  size_ = (by == GroupBy::kStack ? stack_count : static_cast<uint32_t>(entities_.size())) + 1;
  of_stack_.assign(stack_count, unknown());
  entity_of_.assign(size_, kNone);
  frame_of_.assign(size_, kNone);
  for (uint32_t stack = 0; stack < stack_count; ++stack) {
    const FramePlace place = FlatFrameOf(profile, stacks.stacks[stack].leaf, allocation_frames);
    if (place.node == kNone) continue;
    const LocationId at = profile.nodes[place.node].location;
    const EntityId entity = entities_.Of(at, place.k);
    const uint32_t group = by == GroupBy::kStack ? stack : entity;
    of_stack_[stack] = group;
    entity_of_[group] = entity;
    if (frame_of_[group] == kNone) frame_of_[group] = profile.locations[at].first_frame + place.k;
  }
}

EntityId BlockGroups::EntityOf(uint32_t group) const { return entity_of_[group]; }
uint32_t BlockGroups::FrameOf(uint32_t group) const { return frame_of_[group]; }

}  // namespace heapgauge::trace
