#include "core/query/names_in_stacks.h"

#include <algorithm>

#include "core/base/function_pattern.h"
#include "core/base/regex.h"
#include "core/fold/allocation_frames.h"
#include "core/report/labels.h"

namespace heapgauge::query {

constexpr std::string_view kUnknown = "(unknown stack)";
constexpr size_t kRemembered = 16;

NamesInStacks::NamesInStacks(const Profile& profile, uint32_t first)
    : profile_(profile), first_(first) {
  frame_names_ = FrameNames(profile_, Granularity::kFunctions, Names::kShort);
  allocation_frames_ = CountAllocationFrames(profile_);
  depth_.resize(profile_.nodes.size());
  for (NodeId id = 0; id < profile_.nodes.size(); ++id) {
    const Node& node = profile_.nodes[id];
    depth_[id] = (node.parent == kNone ? 0 : depth_[node.parent]) +
                 profile_.locations[node.location].frame_count;
  }
}

std::string_view NamesInStacks::function(uint32_t stack) const {
  const FramePlace place = FlatFrame(profile_, stack - first_, allocation_frames_);
  if (place.node == kNone) return kUnknown;
  const Location& location = profile_.locations[profile_.nodes[place.node].location];
  if (place.k >= location.frame_count) return kUnknown;
  return frame_names_[location.first_frame + place.k];
}

std::string_view NamesInStacks::module(uint32_t stack) const {
  const FramePlace place = FlatFrame(profile_, stack - first_, allocation_frames_);
  if (place.node == kNone) return {};
  const ModuleId module = profile_.locations[profile_.nodes[place.node].location].module;
  return module == kNone ? std::string_view() : profile_.modules[module].path;
}

uint32_t NamesInStacks::depth(uint32_t stack) const {
  const NodeId leaf = row(stack).leaf;
  return leaf == kNone ? 0 : depth_[leaf];
}

std::string NamesInStacks::Collapsed(uint32_t stack) const {
  const Row& r = row(stack);
  if (r.leaf == kNone) return std::string(kUnknown);
  std::vector<NodeId> path;
  for (NodeId node = r.leaf; node != kNone; node = profile_.nodes[node].parent) {
    path.push_back(node);
  }
  std::string text = r.truncated ? "(truncated)" : "";
  for (size_t i = path.size(); i-- > 0;) {
    const Location& location = profile_.locations[profile_.nodes[path[i]].location];
    for (uint32_t k = location.frame_count; k-- > 0;) {
      if (!text.empty()) text += ';';
      const size_t from = text.size();
      text += frame_names_[location.first_frame + k];
      std::replace(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), ';', ':');
    }
  }
  return text;
}

Result<std::shared_ptr<const std::vector<bool>>> NamesInStacks::Matching(std::string_view pattern) {
  if (const auto known = matching_.find(pattern); known != matching_.end()) return known->second;
  HG_ASSIGN(const Regex regex, Regex::Compile(std::string(pattern)));
  const auto all = [&](const auto& items, const auto& matches) {
    std::vector<bool> bits(items.size());
    for (size_t i = 0; i < items.size(); ++i) bits[i] = matches(items[i]);
    return bits;
  };
  const std::vector<bool> modules =
      all(profile_.modules, [&](const Module& m) { return regex.Matches(m.path); });
  const std::vector<bool> functions = all(profile_.functions, [&](const Function& f) {
    return MatchesFunction(regex, f.name) || regex.Matches(f.file);
  });
  const std::vector<bool> locations = all(profile_.locations, [&](const Location& l) {
    if (l.module != kNone && modules[l.module]) return true;
    for (uint32_t k = 0; k < l.frame_count; ++k) {
      const FunctionId function = profile_.frames[l.first_frame + k].function;
      if (function != kNone && functions[function]) return true;
    }
    return false;
  });
  auto nodes = std::make_shared<std::vector<bool>>(profile_.nodes.size());
  for (NodeId id = 0; id < profile_.nodes.size(); ++id) {
    const Node& node = profile_.nodes[id];
    (*nodes)[id] = locations[node.location] || (node.parent != kNone && (*nodes)[node.parent]);
  }
  if (matching_.size() >= kRemembered) matching_.clear();
  matching_.emplace(pattern, nodes);
  return nodes;
}

}  // namespace heapgauge::query
