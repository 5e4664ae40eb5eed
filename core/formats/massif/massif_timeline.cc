#include "core/formats/massif/massif_timeline.h"

#include <algorithm>

#include "core/formats/text/split_command.h"

namespace heapgauge {

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
  timeline.recording.command_line = SplitCommand(file.command);
  if (!timeline.recording.command_line.empty()) {
    timeline.recording.program = timeline.recording.command_line.front();
  }
  Summarize(&timeline);
  return timeline;
}

}  // namespace heapgauge
