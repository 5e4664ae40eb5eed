#include "core/formats/massif/massif_tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/fold/allocation_frames.h"
#include "core/formats/massif/massif_frame.h"

namespace heapgauge {
namespace {

constexpr const char* kTotal = "(heap allocation functions) malloc/new/new[], --alloc-fns, etc.";

}  // namespace

MassifTrees::MassifTrees(const Profile& profile, const MassifTreeOptions& options, MassifFile* file)
    : profile_(profile),
      options_(options),
      file_(file),
      allocation_frames_(CountAllocationFrames(profile)) {}

uint32_t MassifTrees::TextId(const std::string& text) {
  const auto [it, is_new] = text_ids_.try_emplace(text, static_cast<uint32_t>(file_->texts.size()));
  if (is_new) file_->texts.push_back(text);
  return it->second;
}

uint32_t MassifTrees::TextOf(const Walk& walk) {
  const auto [it, is_new] = unit_texts_.try_emplace(walk.unit, 0);
  if (!is_new) return it->second;
  const Location& location = profile_.locations[profile_.nodes[walk.node].location];
  MassifFrame frame;
  frame.address = location.lookup_address();  // massif names the call, not what is behind it
  std::string name;
  if (location.module != kNone) frame.module = profile_.modules[location.module].path;
  if (location.frame_count > 0) {
    const Frame& known = profile_.frames[location.first_frame + walk.frame];
    const Function& function = profile_.functions[known.function];
    if (!function.placeholder) name = function.name;
    if (known.line != 0) {
      frame.file = BaseName(function.file);
      frame.line = known.line;
    }
  }
  // ms_print would take the rest of the line for a comment.
  for (char& c : name) c = c == '#' || c == '\n' ? ' ' : c;
  frame.name = name;
  return it->second = TextId(MassifFrameText(frame));
}

// Finds out what the walk stands at; skips nodes without frames.
void MassifTrees::Enter(Walk* walk) const {
  if (walk->node == kNone) {
    walk->unit = kNone;
    return;
  }
  const LocationId id = profile_.nodes[walk->node].location;
  const Location& location = profile_.locations[id];
  walk->unit = location.frame_count > 0 ? location.first_frame + walk->frame
                                        : static_cast<uint32_t>(profile_.frames.size()) + id;
}

void MassifTrees::Advance(Walk* walk) const {
  const Location& location = profile_.locations[profile_.nodes[walk->node].location];
  if (walk->frame + 1 < location.frame_count) {
    ++walk->frame;
  } else {
    walk->node = profile_.nodes[walk->node].parent;
    walk->frame = 0;
  }
  Enter(walk);
}

void MassifTrees::SetTree(const std::vector<StackBytes>& stacks, MassifSnapshot* snapshot) {
  std::vector<Walk> walks;
  for (const StackBytes& stack : stacks) {
    if (stack.bytes == 0) continue;
    Walk walk;
    walk.node = stack.leaf;
    walk.bytes = stack.bytes;
    while (walk.node != kNone) {
      const LocationId id = profile_.nodes[walk.node].location;
      walk.frame = allocation_frames_[id];
      if (walk.frame < std::max<uint32_t>(profile_.locations[id].frame_count, 1)) break;
      walk.node = profile_.nodes[walk.node].parent;
      walk.frame = 0;
    }
    Enter(&walk);
    walks.push_back(walk);
  }
  snapshot->tree = {{0, TextId(kTotal), snapshot->heap_bytes}};
  AddChildren(walks, 0, 0, snapshot);
}

// Calls itself once for each level of the tree, of which there are options_.depth.
void MassifTrees::AddChildren(std::span<Walk> walks, size_t parent, size_t depth,
                              MassifSnapshot* snapshot) {
  if (depth >= options_.depth) return;
  struct Child {
    size_t begin = 0;
    size_t end = 0;
    uint64_t bytes = 0;
    uint64_t folded = 0;  // places; 0: a child of its own
  };
  std::sort(walks.begin(), walks.end(),
            [](const Walk& a, const Walk& b) { return a.unit < b.unit; });
  const double least = options_.threshold / 100 * static_cast<double>(snapshot->total_bytes());
  std::vector<Child> children;
  Child folded;
  for (size_t i = 0; i < walks.size();) {
    Child child{i, i, 0, 0};
    for (; child.end < walks.size() && walks[child.end].unit == walks[i].unit; ++child.end) {
      child.bytes += walks[child.end].bytes;
    }
    i = child.end;
    if (walks[child.begin].unit == kNone) continue;  // stacks that end here
    if (static_cast<double>(child.bytes) >= least) {
      children.push_back(child);
    } else {
      ++folded.folded;
      folded.bytes += child.bytes;
    }
  }
  if (folded.folded > 0) children.push_back(folded);
  std::stable_sort(children.begin(), children.end(),
                   [](const Child& a, const Child& b) { return a.bytes > b.bytes; });
  snapshot->tree[parent].children = static_cast<uint32_t>(children.size());
  for (const Child& child : children) {
    const size_t at = snapshot->tree.size();
    if (child.folded > 0) {
      const std::string text =
          fmt::format("in {} place{} below massif's threshold ({:.2f}%)", child.folded,
                      child.folded == 1 ? "," : "s, all", options_.threshold);
      snapshot->tree.push_back({0, TextId(text), child.bytes});
      continue;
    }
    const std::span<Walk> below = walks.subspan(child.begin, child.end - child.begin);
    snapshot->tree.push_back({0, TextOf(below.front()), child.bytes});
    for (Walk& walk : below) Advance(&walk);
    AddChildren(below, at, depth + 1, snapshot);
  }
}

}  // namespace heapgauge
