#include "core/formats/massif/massif_tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/fold/frames.h"
#include "core/fold/measures.h"
#include "core/fold/timeline.h"
#include "core/formats/massif/massif_file.h"

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

namespace {

std::vector<StackBytes> LiveStacksOf(const Profile& profile) {
  std::vector<StackBytes> stacks;
  const size_t type = MeasuresOf(profile).main;
  if (type >= profile.sample_types.size()) return stacks;
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    const int64_t bytes = profile.value(row, type);
    if (bytes > 0) stacks.push_back({profile.rows[row].leaf, static_cast<uint64_t>(bytes)});
  }
  return stacks;
}

uint64_t Sum(const std::vector<StackBytes>& stacks) {
  uint64_t sum = 0;
  for (const StackBytes& stack : stacks) sum += stack.bytes;
  return sum;
}

}  // namespace

MassifFile MassifOfMoments(const std::vector<SnapshotPoint>& moments, MassifUnit unit,
                           const RecordingFacts& recording) {
  MassifFile file;
  file.unit = unit;
  file.descriptions = {"heapgauge timeline"};
  file.command = Join(recording.command_line);
  if (file.command.empty()) file.command = recording.program;
  for (char& c : file.command) c = c == '#' || c == '\n' ? ' ' : c;
  for (const SnapshotPoint& moment : moments) {
    MassifSnapshot snapshot;
    snapshot.number = file.snapshots.size();
    snapshot.time = unit == MassifUnit::kMilliseconds ? moment.at / kNsPerMs : moment.at;
    snapshot.heap_bytes = moment.bytes;
    snapshot.extra_bytes = moment.extra;
    file.snapshots.push_back(std::move(snapshot));
  }
  return file;
}

void MarkDetailed(size_t every, MassifFile* file) {
  std::vector<MassifSnapshot>& snapshots = file->snapshots;
  if (snapshots.empty()) return;
  for (size_t i = 1; i < snapshots.size(); ++i) {
    if ((every > 0 && i % every == 0) || i + 1 == snapshots.size()) {
      snapshots[i].kind = MassifSnapshot::Kind::kDetailed;
    }
  }
  const auto peak = std::max_element(
      snapshots.begin(), snapshots.end(),
      [](const MassifSnapshot& a, const MassifSnapshot& b) { return a.heap_bytes < b.heap_bytes; });
  peak->kind = MassifSnapshot::Kind::kPeak;
}

Result<MassifFile> MassifOfProfile(const Profile& now, const Profile* peak, MassifUnit unit,
                                   size_t most_snapshots, const MassifTreeOptions& tree) {
  if (now.timeline.empty()) {
    return Fail(ErrorCode::kUnsupported,
                "this profile knows one moment alone; massif's snapshots need a trace (run "
                "--trace), a gauge file, or a file by massif or heaptrack");
  }
  HG_TRY(CheckCountsTime(now));
  const bool counts_bytes = unit == MassifUnit::kBytes;
  const RecordingFacts& recording = now.recording;
  const bool has_peak =
      peak != nullptr && recording.has_peak && !counts_bytes && recording.peak_bytes > 0;
  SnapshotChooser chooser(most_snapshots - (has_peak ? 1 : 0));
  uint64_t before = 0;
  uint64_t place = 0;
  for (const TimelinePoint& point : now.timeline) {
    const uint64_t at = counts_bytes ? point.allocated_bytes + point.freed_bytes : point.time_ns;
    before = std::max(before, at);
    chooser.Add({before, point.live_bytes, 0, place++});
  }
  const std::vector<StackBytes> last = LiveStacksOf(now);
  if (!last.empty()) {
    before = counts_bytes ? before : std::max(before, recording.duration_ns);
    chooser.Add({before, Sum(last), 0, place});
  }
  std::vector<SnapshotPoint> moments = chooser.Take();
  size_t peak_at = moments.size();
  if (has_peak) {
    // Between two points, so that it is not one of them.
    const auto behind =
        std::find_if(moments.begin(), moments.end(),
                     [&](const SnapshotPoint& moment) { return moment.at > recording.peak_ns; });
    peak_at = static_cast<size_t>(behind - moments.begin());
    const SnapshotPoint moment{recording.peak_ns, recording.peak_bytes, 0, 0};
    if (behind != moments.end()) moments.insert(behind, moment);
  }
  MassifFile file = MassifOfMoments(moments, unit, recording);
  if (peak_at < file.snapshots.size()) {
    MassifSnapshot& snapshot = file.snapshots[peak_at];
    snapshot.kind = MassifSnapshot::Kind::kPeak;
    MassifTrees(*peak, tree, &file).SetTree(LiveStacksOf(*peak), &snapshot);
  }
  if (!last.empty()) {
    MassifSnapshot& snapshot = file.snapshots.back();
    // A heap that never shrank has its peak here.
    snapshot.kind = has_peak && peak_at + 1 > file.snapshots.size()
                        ? MassifSnapshot::Kind::kPeak
                        : MassifSnapshot::Kind::kDetailed;
    MassifTrees(now, tree, &file).SetTree(last, &snapshot);
  }
  return file;
}

}  // namespace heapgauge
