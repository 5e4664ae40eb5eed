#include "core/formats/massif/massif_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/numbers.h"
#include "core/base/text.h"
#include "core/formats/massif/massif_file.h"
#include "core/formats/text/scan.h"
#include "core/model/stacks.h"

namespace heapgauge {
namespace {

// "4,096 B", "1.5s"
std::string TimeText(const MassifFile& file, uint64_t time) {
  if (file.unit == MassifUnit::kBytes) return FormatBytes(static_cast<double>(time));
  if (file.unit == MassifUnit::kMilliseconds) {
    return time < 10'000 ? fmt::format("{:.3g}s", static_cast<double>(time) / 1000)
                         : FormatDuration(time * kNsPerMs);
  }
  return FormatCount(static_cast<double>(time)) + " instructions";
}

// Locations by the text of the node.
class Frames {
 public:
  Frames(const MassifFile& file, Profile* profile)
      : file_(file), profile_(profile), ids_(file.texts.size(), kNone) {}

  LocationId Find(uint32_t text) {
    if (ids_[text] == kNone) ids_[text] = Make(file_.texts[text]);
    return ids_[text];
  }

 private:
  LocationId Make(const std::string& text) {
    const MassifFrame frame = ParseMassifFrame(text);
    Location location;
    location.address = frame.address;
    location.exact = true;  // valgrind steps back into the call itself
    if (!frame.module.empty()) location.module = ModuleOf(frame.module);
    location.first_frame = static_cast<uint32_t>(profile_->frames.size());
    location.frame_count = 1;
    Function function;
    function.name = frame.folded ? "(" + std::string(frame.name) + ")" : std::string(frame.name);
    function.file = frame.file;
    if (frame.name.empty()) {
      function.placeholder = true;
      function.name = frame.module.empty() ? "???" : std::string(BaseName(frame.module));
      // Where the module lay is not in the file: the address is no offset in it. As of DHAT.
      if (frame.address != 0) {
        function.name += fmt::format("{}{:#x}", frame.module.empty() ? " at " : " ", frame.address);
      }
    }
    profile_->functions.push_back(std::move(function));
    profile_->frames.push_back(
        {static_cast<FunctionId>(profile_->functions.size() - 1), frame.line, false});
    profile_->locations.push_back(location);
    return static_cast<LocationId>(profile_->locations.size() - 1);
  }

  ModuleId ModuleOf(std::string_view path) {
    const auto [it, is_new] = modules_.try_emplace(std::string(path), kNone);
    if (is_new) {
      it->second = static_cast<ModuleId>(profile_->modules.size());
      Module module;
      module.path = path;
      module.has_functions = true;
      profile_->modules.push_back(std::move(module));
    }
    return it->second;
  }

  const MassifFile& file_;
  Profile* profile_;
  std::vector<LocationId> ids_;
  std::unordered_map<std::string, ModuleId> modules_;
};

// One row for each end of a path, and for what a node has beyond its children.
void AddRows(const MassifFile& file, const MassifSnapshot& snapshot, Profile* profile) {
  struct Open {
    uint64_t children;  // that are still to come
    uint64_t bytes;     // that none of them had so far
  };
  Frames frames(file, profile);
  StackBuilder stacks(profile);
  std::vector<Open> open;
  std::vector<LocationId> path;  // innermost first; the total has none
  const auto close = [&] {
    if (open.back().bytes > 0) {
      Row row;
      row.leaf = stacks.Leaf(path);
      profile->rows.push_back(row);
      profile->values.push_back(static_cast<int64_t>(open.back().bytes));
    }
    open.pop_back();
    if (!path.empty()) path.pop_back();
  };
  for (const MassifNode& node : snapshot.tree) {
    while (!open.empty() && open.back().children == 0) close();
    if (!open.empty()) {
      Open& parent = open.back();
      --parent.children;
      parent.bytes -= std::min(parent.bytes, node.bytes);
      path.push_back(frames.Find(node.text));
    }
    open.push_back({node.children, node.bytes});
  }
  while (!open.empty()) close();
}

TimeAxis AxisOf(MassifUnit unit) {
  if (unit == MassifUnit::kMilliseconds) return TimeAxis::kTime;
  return unit == MassifUnit::kBytes ? TimeAxis::kBytes : TimeAxis::kInstructions;
}

void AddTimeline(const MassifFile& file, Profile* profile) {
  profile->timeline_axis = AxisOf(file.unit);
  profile->timeline_live_only = true;
  for (const MassifSnapshot& s : file.snapshots) {
    TimelinePoint point;
    if (file.unit == MassifUnit::kMilliseconds) {
      point.time_ns = s.time * kNsPerMs;
    } else {
      point.at = s.time;
    }
    point.live_bytes = s.heap_bytes;
    if (!profile->timeline.empty()) {
      point.time_ns = std::max(point.time_ns, profile->timeline.back().time_ns);
      point.at = std::max(point.at, profile->timeline.back().at);
    }
    profile->timeline.push_back(point);
  }
}

tl::unexpected<Error> BadMoment(const std::string& at) {
  return Fail(ErrorCode::kInvalidArgument,
              "\"" + Printable(at) +
                  "\" is no moment of this file (peak, start, end, snapshot=12, 40%, or a time)");
}

// A time in what the file counts.
Result<uint64_t> ParseTime(const MassifFile& file, const std::string& at) {
  std::string_view unit = at;
  const auto number = TakeNumber<double>(&unit);
  if (!number || !(*number >= 0)) return BadMoment(at);
  double value = *number;
  const uint64_t last = file.snapshots.back().time;
  if (unit == "%") {
    value *= static_cast<double>(last) / 100;
  } else if (!unit.empty() && file.unit == MassifUnit::kMilliseconds) {
    const auto ratio = UnitRatio(unit, "ms");
    if (!ratio) return BadMoment(at);
    value *= *ratio;
  } else if (!unit.empty()) {
    HG_ASSIGN(const uint64_t size, ParseSize(at));
    value = static_cast<double>(size);
  }
  return value >= 1e18 ? last : static_cast<uint64_t>(std::llround(value));
}

// The snapshot that is meant, whether it has a tree or not.
Result<size_t> FindSnapshot(const MassifFile& file, const std::string& at) {
  if (at.empty() || at == "peak") return file.PeakSnapshot();
  if (at == "start") return size_t{0};
  if (at == "end") return file.snapshots.size() - 1;
  if (at.starts_with("snapshot=")) {
    for (size_t i = 0; i < file.snapshots.size(); ++i) {
      if (std::to_string(file.snapshots[i].number) == at.substr(9)) return i;
    }
    return BadMoment(at);
  }
  HG_ASSIGN(const uint64_t time, ParseTime(file, at));
  size_t found = 0;
  for (size_t i = 0; i < file.snapshots.size() && file.snapshots[i].time <= time; ++i) found = i;
  return found;
}

// The nearest one that has a tree.
std::optional<size_t> NearestTree(const MassifFile& file, size_t wanted) {
  const auto distance = [&](size_t i) {
    const uint64_t a = file.snapshots[i].time;
    const uint64_t b = file.snapshots[wanted].time;
    return a > b ? a - b : b - a;
  };
  std::optional<size_t> best;
  for (size_t i = 0; i < file.snapshots.size(); ++i) {
    if (file.snapshots[i].tree.empty()) continue;
    if (i == wanted) return i;
    if (!best || distance(i) < distance(*best)) best = i;
  }
  return best;
}

}  // namespace

Result<Profile> MassifProfile(const MassifFile& file, const std::string& at) {
  Profile profile;
  profile.sample_types = {{"inuse_space", "bytes"}};
  profile.period_type = {"space", "bytes"};
  profile.period = 1;
  profile.recording.command_line = WordsOf(file.command, " ");
  if (!profile.recording.command_line.empty()) {
    profile.recording.program = profile.recording.command_line[0];
    Module program;
    program.path = profile.recording.program;
    profile.modules.push_back(std::move(program));
  }
  AddTimeline(file, &profile);
  HG_ASSIGN(const size_t wanted, FindSnapshot(file, at));
  const std::optional<size_t> found = NearestTree(file, wanted);
  if (!found) {
    profile.notes.push_back("no snapshot of this file has a tree, so nobody knows who allocated");
    return profile;
  }
  const MassifSnapshot& shown = file.snapshots[*found];
  AddRows(file, shown, &profile);
  const size_t peak = file.PeakSnapshot();
  profile.comments.push_back(
      fmt::format("massif: {}snapshot {} of {} at {}: {} live, {} more by the allocator",
                  *found == peak ? "the peak, " : "", shown.number, file.snapshots.size(),
                  TimeText(file, shown.time), FormatBytes(static_cast<double>(shown.heap_bytes)),
                  FormatBytes(static_cast<double>(shown.extra_bytes))));
  profile.comments.push_back(file.command);
  if (*found != wanted) {
    profile.notes.push_back(fmt::format(
        "snapshot {} at {} has no tree; this is the nearest one that has, snapshot {} at {}",
        file.snapshots[wanted].number, TimeText(file, file.snapshots[wanted].time), shown.number,
        TimeText(file, shown.time)));
  }
  RecordingFacts& recording = profile.recording;
  recording.has_peak = true;
  recording.is_peak = *found == peak;
  recording.peak_bytes = file.snapshots[peak].heap_bytes;
  if (file.unit == MassifUnit::kMilliseconds) {
    recording.peak_ns = file.snapshots[peak].time * kNsPerMs;
    recording.duration_ns = file.snapshots.back().time * kNsPerMs;
  }
  return profile;
}

Result<Profile> ReadMassif(ByteStream* stream, const std::string& name, const std::string& at) {
  HG_ASSIGN(const MassifFile file, ParseMassif(stream, name));
  return MassifProfile(file, at);
}

Result<Timeline> TimelineOfMassif(const MassifFile& file, uint64_t from, uint64_t to) {
  Timeline timeline;
  timeline.axis = file.unit == MassifUnit::kBytes          ? TimeAxis::kBytes
                  : file.unit == MassifUnit::kMilliseconds ? TimeAxis::kTime
                                                           : TimeAxis::kInstructions;
  timeline.knows_time = timeline.axis == TimeAxis::kTime;
  const uint64_t factor = timeline.knows_time ? kNsPerMs : 1;
  for (const MassifSnapshot& s : file.snapshots) {
    const uint64_t begin = timeline.steps.empty() ? 0 : timeline.steps.back().end;
    const uint64_t at = std::max(s.time <= UINT64_MAX / factor ? s.time * factor : s.time, begin);
    if (at < from || at > to) continue;
    TimelineStep& step = timeline.steps.emplace_back();
    step.begin = timeline.steps.size() == 1 ? at : begin;
    step.end = at;
    step.time_ns = timeline.knows_time ? at : 0;
    step.live_bytes = step.most_bytes = step.least_bytes = s.heap_bytes;
  }
  if (timeline.steps.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "the file has no snapshot in that range");
  }
  timeline.from = timeline.steps.front().end;
  timeline.to = timeline.steps.back().end;
  timeline.from_ns = timeline.steps.front().time_ns;
  timeline.to_ns = timeline.steps.back().time_ns;
  timeline.recording.command_line = WordsOf(file.command, " ");
  if (!timeline.recording.command_line.empty()) {
    timeline.recording.program = timeline.recording.command_line.front();
  }
  Summarize(&timeline);
  return timeline;
}

}  // namespace heapgauge
