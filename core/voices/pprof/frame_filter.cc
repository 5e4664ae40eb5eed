#include "core/voices/pprof/frame_filter.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/fold/frames.h"
#include "core/model/profile.h"
#include "core/model/stacks.h"

namespace heapgauge::pprof {
namespace {

// Gives a location frames of its own at the end of the list; nobody else's are touched.
void SetFrames(const std::vector<Frame>& frames, LocationId id, Profile* profile) {
  Location& location = profile->locations[id];
  location.first_frame = static_cast<uint32_t>(profile->frames.size());
  location.frame_count = static_cast<uint32_t>(frames.size());
  if (frames.empty()) location.first_frame = 0;
  profile->frames.insert(profile->frames.end(), frames.begin(), frames.end());
  if (!frames.empty()) profile->frames.back().inlined = false;
}

}  // namespace

std::span<const Frame> FramesOf(const Profile& profile, const Location& location) {
  return {profile.frames.data() + location.first_frame, location.frame_count};
}

void CutFrames(uint32_t first, uint32_t end, LocationId id, Profile* profile) {
  Location& location = profile->locations[id];
  if (end == location.frame_count) {
    location.first_frame += first;
    location.frame_count -= first;
    return;
  }
  const auto frames = FramesOf(*profile, location);
  SetFrames({frames.begin() + first, frames.begin() + end}, id, profile);
}

void KeepFrames(const std::function<bool(const Frame&)>& keep, LocationId id, Profile* profile) {
  std::vector<Frame> kept;
  const auto frames = FramesOf(*profile, profile->locations[id]);
  for (const Frame& frame : frames) {
    if (keep(frame)) kept.push_back(frame);
  }
  if (kept.size() != frames.size()) SetFrames(kept, id, profile);
}

namespace {

// Of each function, whether it is to be cut; tried once for each.
std::vector<uint8_t> MatchFunctions(const Regex& drop, const Regex* keep, const Profile& profile) {
  std::vector<uint8_t> match(profile.functions.size());
  for (FunctionId id = 0; id < match.size(); ++id) {
    const std::string& full = profile.functions[id].name;
    if (full.empty()) continue;
    const std::string_view name = NameWithoutArguments(full);
    match[id] = drop.Matches(name) && (keep == nullptr || !keep->Matches(name));
  }
  return match;
}

bool IsMatch(const std::vector<uint8_t>& match, const Frame& frame) {
  return frame.function != kNone && match[frame.function] != 0;
}

Result<std::unique_ptr<Regex>> CompileWhole(const std::string& pattern) {
  if (pattern.empty()) return std::unique_ptr<Regex>();
  auto regex = Regex::Compile("^(" + pattern + ")$");
  if (!regex) {
    return Fail(ErrorCode::kInvalidArgument,
                "failed to compile regexp " + pattern + ": " + regex.error().message);
  }
  return std::make_unique<Regex>(*std::move(regex));
}

}  // namespace

std::string_view NameWithoutArguments(std::string_view name) {
  if (name.starts_with('.')) name.remove_prefix(1);  // entry points of 64-bit PowerPC
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  constexpr std::string_view kOperator = "operator()";
  size_t at = 0;
  while ((at = name.find('(', at)) != std::string_view::npos) {
    const size_t word = kOperator.size() - 2;
    if (name.substr(at).starts_with(kAnonymous)) {
      at += kAnonymous.size();
    } else if (at >= word && name.substr(at - word).starts_with(kOperator)) {
      at += 2;
    } else {
      return name.substr(0, at);
    }
  }
  return name;
}

void Prune(const Regex& drop, const Regex* keep, Profile* profile) {
  enum Cut : uint8_t { kNot, kBeneath, kWhole };
  const std::vector<uint8_t> match = MatchFunctions(drop, keep, *profile);
  std::vector<uint8_t> cut(profile->locations.size());
  bool any = false;
  for (LocationId id = 0; id < cut.size(); ++id) {
    const auto frames = FramesOf(*profile, profile->locations[id]);
    auto left = static_cast<uint32_t>(frames.size());
    while (left > 0 && !IsMatch(match, frames[left - 1])) --left;
    if (left == 0) continue;
    any = true;
    cut[id] = left == frames.size() ? kWhole : kBeneath;
    if (cut[id] == kBeneath) {
      CutFrames(left, static_cast<uint32_t>(frames.size()), id, profile);
    }
  }
  if (!any) return;

  // Of each node: whether something of the program was met on the way in, whether the stack has
  // ended, and whether the node is in it all the same. A byte each, because there are many.
  enum State : uint8_t { kFoundUser = 1, kDone = 2, kStays = 4 };
  std::vector<uint8_t> states(profile->nodes.size());
  for (NodeId id = 0; id < states.size(); ++id) {
    const Node& node = profile->nodes[id];
    const uint8_t before = node.parent == kNone ? 0 : states[node.parent];
    if ((before & kDone) != 0) {
      states[id] = kDone;
      continue;
    }
    const uint8_t how = cut[node.location];
    const bool done = how != kNot && (before & kFoundUser) != 0;
    uint8_t state = before & kFoundUser;
    if (how == kNot) state |= kFoundUser;
    if (done) state |= kDone;
    if (!done || how == kBeneath) state |= kStays;
    states[id] = state;
  }
  for (Row& row : profile->rows) {
    while (row.leaf != kNone && (states[row.leaf] & kStays) == 0) {
      row.leaf = profile->nodes[row.leaf].parent;
    }
  }
}

void PruneFrom(const Regex& regex, Profile* profile) {
  const std::vector<uint8_t> match = MatchFunctions(regex, nullptr, *profile);
  std::vector<uint8_t> found(profile->locations.size());
  for (LocationId id = 0; id < found.size(); ++id) {
    const auto frames = FramesOf(*profile, profile->locations[id]);
    for (uint32_t i = 0; i < frames.size(); ++i) {
      if (!IsMatch(match, frames[i])) continue;
      found[id] = 1;
      CutFrames(i, static_cast<uint32_t>(frames.size()), id, profile);
      break;
    }
  }
  std::vector<NodeId> innermost(profile->nodes.size(), kNone);
  for (NodeId id = 0; id < innermost.size(); ++id) {
    const Node& node = profile->nodes[id];
    if (found[node.location] != 0) {
      innermost[id] = id;
    } else if (node.parent != kNone) {
      innermost[id] = innermost[node.parent];
    }
  }
  for (Row& row : profile->rows) {
    if (row.leaf != kNone && innermost[row.leaf] != kNone) row.leaf = innermost[row.leaf];
  }
}

Status RemoveUninteresting(Profile* profile) {
  if (profile->drop_frames.empty()) return {};
  HG_ASSIGN(const auto drop, CompileWhole(profile->drop_frames));
  HG_ASSIGN(const auto keep, CompileWhole(profile->keep_frames));
  Prune(*drop, keep.get(), profile);
  return {};
}

void PruneAllocatorModules(Profile* profile) {
  std::vector<bool> allocates(profile->modules.size());
  for (ModuleId id = 0; id < allocates.size(); ++id) {
    allocates[id] = IsAllocatorModule(profile->modules[id].path);
  }
  // The innermost frame of each node's stack that is elsewhere.
  std::vector<NodeId> ends(profile->nodes.size(), kNone);
  for (NodeId id = 0; id < ends.size(); ++id) {
    const Node& node = profile->nodes[id];
    const ModuleId module = profile->locations[node.location].module;
    if (module == kNone || !allocates[module]) {
      ends[id] = id;
    } else if (node.parent != kNone) {
      ends[id] = ends[node.parent];
    }
  }
  for (Row& row : profile->rows) {
    if (row.leaf != kNone && ends[row.leaf] != kNone) row.leaf = ends[row.leaf];
  }
}

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
