#include "core/voices/pprof/frame_filter.h"

#include <optional>
#include <utility>
#include <vector>

#include "core/model/edit_profile.h"
#include "core/model/stacks.h"
#include "core/voices/pprof/prune.h"

namespace heapgauge::pprof {

FrameMatcher::FrameMatcher(const Profile& profile, const Regex& regex)
    : profile_(profile),
      regex_(regex),
      functions_(profile.functions.size()),
      modules_(profile.modules.size()) {}

bool FrameMatcher::MatchesFunction(FunctionId id) {
  if (id == kNone) return false;
  uint8_t& answer = functions_[id];
  if (answer == kUnknown) {
    const Function& function = profile_.functions[id];
    answer = regex_.Matches(function.name) || regex_.Matches(function.file) ? kYes : kNo;
  }
  return answer == kYes;
}

bool FrameMatcher::MatchesModule(ModuleId id) {
  if (id == kNone) return false;
  uint8_t& answer = modules_[id];
  if (answer == kUnknown) answer = regex_.Matches(profile_.modules[id].path) ? kYes : kNo;
  return answer == kYes;
}

bool FrameMatcher::MatchesLocation(LocationId id) {
  const Location& location = profile_.locations[id];
  for (const Frame& frame : FramesOf(profile_, location)) {
    if (MatchesFunction(frame.function)) return true;
  }
  return MatchesModule(location.module);
}

namespace {

enum Mark : uint8_t { kFocused = 1, kIgnored = 2, kHidden = 4 };

// What the filters say about each location; takes away the frames to be hidden.
class LocationMarker {
 public:
  LocationMarker(const FrameFilter& filter, Profile* profile) : profile_(profile) {
    if (filter.focus != nullptr) focus_.emplace(*profile, *filter.focus);
    if (filter.ignore != nullptr) ignore_.emplace(*profile, *filter.ignore);
    if (filter.hide != nullptr) hide_.emplace(*profile, *filter.hide);
    if (filter.show != nullptr) show_.emplace(*profile, *filter.show);
  }

  uint8_t MarkOf(LocationId id, FrameFilterMatches* matches) {
    uint8_t mark = 0;
    if (ignore_ && ignore_->MatchesLocation(id)) {
      matches->ignore = true;
      mark |= kIgnored;
    } else if (!focus_ || focus_->MatchesLocation(id)) {
      matches->focus = true;
      mark |= kFocused;
    }
    if (hide_ && hide_->MatchesLocation(id)) {
      matches->hide = true;
      if (Hide(id)) mark |= kHidden;
    }
    if (show_) {
      if (Show(id)) {
        matches->show = true;
      } else {
        mark |= kHidden;
      }
    }
    return mark;
  }

 private:
  // True if nothing is left of the location. One that is hidden by its object file loses all.
  bool Hide(LocationId id) {
    const bool all = hide_->MatchesModule(profile_->locations[id].module);
    KeepFrames([&](const Frame& f) { return !all && !hide_->MatchesFunction(f.function); }, id,
               profile_);
    return profile_->locations[id].frame_count == 0;
  }

  // True if something is left. A location without names is never shown, not even when its object
  // file is.
  bool Show(LocationId id) {
    if (!show_->MatchesModule(profile_->locations[id].module)) {
      KeepFrames(
          [&](const Frame& f) { return f.function == kNone || show_->MatchesFunction(f.function); },
          id, profile_);
    }
    return profile_->locations[id].frame_count != 0;
  }

  Profile* profile_;
  std::optional<FrameMatcher> focus_, ignore_, hide_, show_;
};

// Leaves the rows whose leaf has a new node, and gives it to them.
void MoveRows(const std::vector<NodeId>& new_node, Profile* profile) {
  std::vector<bool> keep(profile->rows.size());
  for (RowId id = 0; id < profile->rows.size(); ++id) {
    Row& row = profile->rows[id];
    if (row.leaf != kNone) row.leaf = new_node[row.leaf];
    keep[id] = row.leaf != kNone;
  }
  KeepRows(keep, profile);
}

// Leaves the rows with something in focus and nothing ignored on their stack.
void ChooseRows(const FrameFilter& filter, const std::vector<uint8_t>& marks, Profile* profile) {
  std::vector<uint8_t> state;  // by node, of its whole stack
  if (filter.focus != nullptr || filter.ignore != nullptr) {
    state.resize(profile->nodes.size());
    for (NodeId id = 0; id < state.size(); ++id) {
      const Node& node = profile->nodes[id];
      state[id] = marks[node.location] & (kFocused | kIgnored);
      if (node.parent != kNone) state[id] |= state[node.parent];
    }
  }
  std::vector<bool> keep(profile->rows.size());
  for (RowId id = 0; id < keep.size(); ++id) {
    const NodeId leaf = profile->rows[id].leaf;
    keep[id] = leaf != kNone && (state.empty() || state[leaf] == kFocused);
  }
  KeepRows(keep, profile);
}

void HideLocations(const std::vector<uint8_t>& marks, Profile* profile) {
  const std::vector<Node> nodes = std::exchange(profile->nodes, {});
  std::vector<NodeId> new_node(nodes.size());
  StackBuilder builder(profile);
  for (NodeId id = 0; id < nodes.size(); ++id) {
    const Node& node = nodes[id];
    const NodeId parent = node.parent == kNone ? kNone : new_node[node.parent];
    const bool hidden = (marks[node.location] & kHidden) != 0;
    new_node[id] = hidden ? parent : builder.Child(parent, node.location);
  }
  MoveRows(new_node, profile);
}

}  // namespace

FrameFilterMatches FilterByFrames(const FrameFilter& filter, Profile* profile) {
  FrameFilterMatches matches;
  std::vector<uint8_t> marks(profile->locations.size());
  LocationMarker marker(filter, profile);
  bool any_hidden = false;
  for (LocationId id = 0; id < marks.size(); ++id) {
    marks[id] = marker.MarkOf(id, &matches);
    any_hidden |= (marks[id] & kHidden) != 0;
  }
  ChooseRows(filter, marks, profile);
  if (any_hidden) HideLocations(marks, profile);
  return matches;
}

bool ShowFrom(const Regex& show_from, Profile* profile) {
  FrameMatcher matcher(*profile, show_from);
  std::vector<uint8_t> match(profile->locations.size());
  bool matched = false;
  for (LocationId id = 0; id < match.size(); ++id) {
    match[id] = matcher.MatchesLocation(id);
    if (match[id] == 0) continue;
    matched = true;
    if (matcher.MatchesModule(profile->locations[id].module)) continue;
    const auto frames = FramesOf(*profile, profile->locations[id]);
    auto end = static_cast<uint32_t>(frames.size());
    while (!matcher.MatchesFunction(frames[end - 1].function)) --end;
    if (end != frames.size()) CutFrames(0, end, id, profile);
  }

  const std::vector<Node> nodes = std::exchange(profile->nodes, {});
  std::vector<NodeId> new_node(nodes.size(), kNone);
  StackBuilder builder(profile);
  for (NodeId id = 0; id < nodes.size(); ++id) {
    const Node& node = nodes[id];
    const NodeId parent = node.parent == kNone ? kNone : new_node[node.parent];
    if (parent != kNone || match[node.location] != 0) {
      new_node[id] = builder.Child(parent, node.location);
    }
  }
  MoveRows(new_node, profile);
  return matched;
}

}  // namespace heapgauge::pprof
