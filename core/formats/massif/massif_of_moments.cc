#include "core/formats/massif/massif_of_moments.h"

#include <algorithm>

#include "core/fold/measures.h"
#include "core/fold/timeline.h"

namespace heapgauge {
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
  for (const std::string& word : recording.command_line) {
    file.command += (file.command.empty() ? "" : " ") + word;
  }
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
