#include "core/formats/massif/trace_massif.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/fold/choose_snapshots.h"
#include "core/formats/massif/massif_tree.h"
#include "core/trace/answer/live_stacks.h"
#include "core/trace/answer/trace_position.h"

namespace heapgauge::trace {
namespace {

// Moments are found again by the number of events before them.
Position PositionOf(const TraceFile& trace, uint64_t events) {
  const std::vector<SegmentInfo>& segments = trace.segments();
  const auto behind =
      std::upper_bound(segments.begin(), segments.end(), events,
                       [](uint64_t n, const SegmentInfo& info) { return n < info.first_event; });
  if (behind == segments.begin()) return {};
  const auto at = static_cast<size_t>(behind - segments.begin()) - 1;
  return {at, static_cast<uint32_t>(events - segments[at].first_event)};
}

// What is live while the events go by.
struct Running {
  uint64_t bytes = 0;
  uint64_t extra = 0;
  uint64_t moved = 0;  // allocated and freed

  void Apply(const Segment& segment, const Event& event) {
    if (event.born != kNoIndex && !segment.blocks[event.born].is_mapping) {
      const Block& block = segment.blocks[event.born];
      bytes += block.size;
      extra += block.slack;
      moved += block.size;
    }
    if (event.died != kNoIndex && !segment.blocks[event.died].is_mapping) {
      const Block& block = segment.blocks[event.died];
      bytes -= std::min<uint64_t>(bytes, block.size);
      extra -= std::min<uint64_t>(extra, block.slack);
      moved += block.size;
    }
  }
};

Result<std::vector<SnapshotPoint>> ChooseMoments(const TraceFile& trace,
                                                 const MassifRequest& request,
                                                 ProgressSink* progress) {
  const uint64_t from_ns = request.range.from.time_ns;
  const uint64_t to_ns = std::min(request.range.to.time_ns, trace.end_ns());
  EdgeSegments edges(trace, nullptr);
  HG_ASSIGN(const Position begin, PositionAt(trace, request.range.from, &edges));
  HG_ASSIGN(const Position end, PositionAt(trace, request.range.to, &edges));
  const bool counts_bytes = request.unit == MassifUnit::kBytes;
  SnapshotChooser chooser(request.most_snapshots);
  Segment segment;
  Running running;
  uint64_t events = 0;
  const auto moment = [&](uint64_t time_ns) {
    return SnapshotPoint{counts_bytes ? running.moved : time_ns, running.bytes, running.extra,
                         events};
  };
  bool begun = false;
  for (size_t i = 0; i < trace.segments().size(); ++i) {
    if (Position{i, 0} >= end) break;
    if (progress != nullptr) {
      progress->Report("reading the trace", i, trace.segments().size(), "segments");
    }
    HG_TRY(trace.ReadSegment(i, kOldBlocks | kNewBlocks | kEvents | kDetails, &segment));
    for (uint32_t e = 0; e < segment.events.size() && Position{i, e} < end; ++e) {
      const Event& event = segment.events[e];
      if (!begun && Position{i, e} >= begin) {
        chooser.Add(moment(from_ns));
        begun = true;
      }
      running.Apply(segment, event);
      ++events;
      if (begun) chooser.Add(moment(event.time_ns));
    }
  }
  if (!begun) chooser.Add(moment(from_ns));
  chooser.Add(moment(to_ns));
  return chooser.Take();
}

}  // namespace

Result<MassifFile> TraceMassif(const TraceFile& trace, const TraceFile::Stacks& stacks,
                               const MassifRequest& request, ProgressSink* progress) {
  HG_ASSIGN(const std::vector<SnapshotPoint> moments, ChooseMoments(trace, request, progress));
  MassifFile file = MassifOfMoments(moments, request.unit, trace.facts().recording);
  MarkDetailed(request.detailed_every, &file);
  MassifTrees trees(stacks.profile, request.tree, &file);
  LiveStacks live(trace);
  std::vector<StackBytes> now;
  for (size_t i = 0; i < file.snapshots.size(); ++i) {
    MassifSnapshot& snapshot = file.snapshots[i];
    if (snapshot.kind == MassifSnapshot::Kind::kEmpty) continue;
    HG_TRY(live.GoTo(PositionOf(trace, moments[i].place)));
    now.clear();
    for (size_t s = 0; s < live.bytes().size(); ++s) {
      if (live.bytes()[s] == 0) continue;
      now.push_back({s < stacks.stacks.size() ? stacks.stacks[s].leaf : kNone, live.bytes()[s]});
    }
    trees.SetTree(now, &snapshot);
  }
  return file;
}

}  // namespace heapgauge::trace
