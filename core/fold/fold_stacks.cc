#include "core/fold/fold_stacks.h"

#include <utility>

#include "core/base/regex.h"
#include "core/fold/frames.h"
#include "core/fold/functions.h"
#include "core/model/stacks.h"

namespace heapgauge {
namespace {

class Folder {
 public:
  Folder(const Profile& profile, const Entities& entities, const std::vector<bool>& collapse)
      : profile_(profile), entities_(entities), collapse_(collapse) {}

  FoldedStacks Run() {
    made_.entities = entities_.OnePerLocation();
    MakeLocations();
    const std::vector<uint32_t> allocation_frames = CountAllocationFrames(profile_);
    std::vector<FramePlace> flat(profile_.rows.size());
    std::vector<bool> needed(profile_.nodes.size());
    for (RowId row = 0; row < flat.size(); ++row) {
      flat[row] = FlatFrame(profile_, row, allocation_frames);
      if (flat[row].node != kNone) needed[flat[row].node] = true;
    }
    for (size_t i = needed.size(); i-- > 0;) {
      const NodeId parent = profile_.nodes[i].parent;
      if (needed[i] && parent != kNone) needed[parent] = true;
    }
    StackBuilder builder(&made_.profile);
    builder_ = &builder;
    inside_.assign(profile_.nodes.size(), kNone);
    for (NodeId node = 0; node < inside_.size(); ++node) {
      if (needed[node]) inside_[node] = Enter({node, 0});
    }
    for (const FramePlace& at : flat) {
      made_.row_of.push_back(RowAt(at.node == kNone ? kNone
                                   : at.k == 0      ? inside_[at.node]
                                                    : Enter(at)));
    }
    return std::move(made_);
  }

 private:
  void MakeLocations() {
    Profile& out = made_.profile;
    out.modules = profile_.modules;
    out.functions = profile_.functions;
    std::vector<bool> seen(entities_.size());
    out.frames.resize(entities_.size());
    for (LocationId id = 0; id < profile_.locations.size(); ++id) {
      const Location& location = profile_.locations[id];
      for (uint32_t k = 0; k < location.frame_count; ++k) {
        const EntityId entity = entities_.Of(id, k);
        const Frame& frame = profile_.frames[location.first_frame + k];
        Frame& joined = out.frames[entity];
        if (!seen[entity]) joined = frame;
        seen[entity] = true;
        if (joined.line != frame.line) joined.line = joined.column = 0;
        joined.inlined = joined.inlined && frame.inlined;
      }
    }
    for (EntityId id = 0; id < entities_.size(); ++id) {
      Location location = profile_.locations[entities_[id].location];
      location.first_frame = id;
      location.frame_count = 1;
      out.locations.push_back(location);
    }
  }

  // The stack as far in as this frame.
  NodeId Enter(const FramePlace& to) {
    const Node& node = profile_.nodes[to.node];
    NodeId at = node.parent == kNone ? kNone : inside_[node.parent];
    for (uint32_t k = profile_.locations[node.location].frame_count; k-- > to.k;) {
      at = Call(at, entities_.Of(node.location, k));
    }
    return at;
  }

  NodeId Call(NodeId caller, EntityId entity) {
    const std::vector<Node>& nodes = made_.profile.nodes;
    const bool collapsed = !collapse_.empty() && collapse_[entity];
    const uint64_t bit = uint64_t{1} << (entity * 0x9e3779b1u >> 26);
    // Most functions are on a stack once, and nobody looks for them.
    if (collapsed && caller != kNone && (above_[caller] & bit) != 0) {
      for (NodeId at = caller; at != kNone; at = nodes[at].parent) {
        if (nodes[at].location == entity) return at;
      }
    }
    const NodeId node = builder_->Child(caller, entity);
    if (!collapse_.empty() && node >= above_.size()) {
      above_.resize(nodes.size());
      above_[node] = (caller == kNone ? 0 : above_[caller]) | bit;
    }
    return node;
  }

  RowId RowAt(NodeId leaf) {
    if (row_at_.empty()) row_at_.assign(made_.profile.nodes.size() + 1, kNone);
    // The calls of inner frames may have made a few more nodes.
    if (leaf != kNone && leaf + 1 >= row_at_.size()) row_at_.resize(leaf + 2, kNone);
    RowId& row = leaf == kNone ? row_at_[0] : row_at_[leaf + 1];
    if (row == kNone) {
      row = static_cast<RowId>(made_.profile.rows.size());
      made_.profile.rows.emplace_back().leaf = leaf;
    }
    return row;
  }

  const Profile& profile_;
  const Entities& entities_;
  const std::vector<bool>& collapse_;
  FoldedStacks made_;
  StackBuilder* builder_ = nullptr;
  std::vector<NodeId> inside_;   // by node: the stack with all its frames
  std::vector<uint64_t> above_;  // by node of the result: a bit of each entity on the stack
  std::vector<RowId> row_at_;    // by node of the result, and one
};

}  // namespace

FoldedStacks FoldStacks(const Profile& profile, const Entities& entities,
                        const std::vector<bool>& collapse) {
  return Folder(profile, entities, collapse).Run();
}

Result<Profile> SideBySide(const Profile& first, const Profile& second) {
  const auto together = [&](const auto& table) {
    return (first.*table).size() + (second.*table).size();
  };
  if (together(&Profile::nodes) >= kNone || together(&Profile::rows) >= kNone ||
      together(&Profile::frames) >= kNone || together(&Profile::locations) >= kNone) {
    return Fail(ErrorCode::kUnsupported, "the profiles are too large to be compared");
  }
  Profile both;
  both.sample_types = first.sample_types;
  both.default_type = first.default_type;
  both.modules = first.modules;
  both.functions = first.functions;
  both.frames = first.frames;
  both.locations = first.locations;
  both.nodes = first.nodes;
  both.rows = first.rows;
  const auto moved = [](uint32_t id, size_t by) {
    return id == kNone ? id : static_cast<uint32_t>(id + by);
  };
  both.modules.insert(both.modules.end(), second.modules.begin(), second.modules.end());
  both.functions.insert(both.functions.end(), second.functions.begin(), second.functions.end());
  for (Frame frame : second.frames) {
    frame.function = moved(frame.function, first.functions.size());
    both.frames.push_back(frame);
  }
  for (Location location : second.locations) {
    location.module = moved(location.module, first.modules.size());
    location.first_frame += static_cast<uint32_t>(first.frames.size());
    both.locations.push_back(location);
  }
  for (Node node : second.nodes) {
    node.parent = moved(node.parent, first.nodes.size());
    node.location = moved(node.location, first.locations.size());
    both.nodes.push_back(node);
  }
  for (Row row : second.rows) {
    row.leaf = moved(row.leaf, first.nodes.size());
    both.rows.push_back(row);
  }
  for (Row& row : both.rows) row.labels = kNone;
  both.values.assign(both.rows.size() * both.sample_types.size(), 0);
  return both;
}

Entities EntitiesSideBySide(const Profile& both, const MatchSide& first, const MatchSide& second) {
  const Entities apart(both, first.entities->granularity());
  const MatchedEntities matched = MatchAcross({first, second});
  std::vector<uint32_t> thing_of(apart.size());
  LocationId at = 0;
  for (const MatchSide* side : {&first, &second}) {
    const std::vector<uint32_t>& own = matched.thing_of[side == &first ? 0 : 1];
    for (LocationId id = 0; id < side->profile->locations.size(); ++id, ++at) {
      for (uint32_t k = 0; k < both.locations[at].frame_count; ++k) {
        thing_of[apart.Of(at, k)] = own[side->entities->Of(id, k)];
      }
    }
  }
  return apart.Joined(thing_of);
}

Result<std::vector<bool>> MatchEntities(const Profile& profile, const Entities& entities,
                                        const std::string& pattern) {
  HG_ASSIGN(const Regex regex, Regex::CompileTyped(pattern));
  std::vector<bool> matches(entities.size());
  for (EntityId id = 0; id < entities.size(); ++id) {
    const Entity& entity = entities[id];
    const Function& function = profile.functions[entity.function];
    switch (entities.granularity()) {
      case Granularity::kFiles:
        matches[id] = regex.Matches(function.file);
        break;
      case Granularity::kModules:
        matches[id] = entity.module != kNone && regex.Matches(profile.modules[entity.module].path);
        break;
      default:
        matches[id] = regex.Matches(function.name);
    }
  }
  return matches;
}

}  // namespace heapgauge
