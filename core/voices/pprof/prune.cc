#include "core/voices/pprof/prune.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "core/fold/frames.h"

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

}  // namespace heapgauge::pprof
