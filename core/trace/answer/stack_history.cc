#include "core/trace/answer/stack_history.h"

#include <algorithm>
#include <utility>

#include "core/trace/answer/live_stacks.h"
#include "core/trace/answer/trace_position.h"

namespace heapgauge::trace {
namespace {

// With so many, their ends are as good as any other moments.
constexpr size_t kEnoughSegments = 12;

struct KnownMoment {
  uint64_t time_ns = 0;
  Place place;
};

// Ends of segments, some of all that are within the range.
std::vector<KnownMoment> EndsOfSegments(const TraceFile& trace, uint64_t from, uint64_t to) {
  std::vector<KnownMoment> ends;
  for (size_t i = 0; i < trace.segments().size(); ++i) {
    const SegmentInfo& info = trace.segments()[i];
    if (info.end_ns >= from && info.end_ns <= to) ends.push_back({info.end_ns, {i + 1, 0}});
  }
  return ends;
}

Result<std::vector<KnownMoment>> EquallyFar(const TraceFile& trace, uint64_t from, uint64_t to,
                                            size_t points) {
  std::vector<KnownMoment> moments;
  SegmentCache cache(1);
  for (size_t i = 0; i < points; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(points - 1);
    const uint64_t time = from + static_cast<uint64_t>(part * static_cast<double>(to - from));
    EdgeSegments edges(trace, &cache);
    HG_ASSIGN(const Position at, PositionAt(trace, TraceMoment::At(time), &edges));
    moments.push_back({time, {at.segment, at.event}});
  }
  return moments;
}

}  // namespace

Result<LiveHistory> ReadStackHistory(const TraceFile& trace, const HistoryRequest& request) {
  const uint64_t to = std::min(request.to_ns, trace.end_ns());
  const uint64_t from = std::min(request.from_ns, to);
  const size_t points = std::max<size_t>(2, request.points);
  std::vector<KnownMoment> moments = EndsOfSegments(trace, from, to);
  if (moments.size() >= kEnoughSegments) {
    const size_t count = std::min(points, moments.size());
    std::vector<KnownMoment> some;
    for (size_t i = 0; i < count; ++i) {
      some.push_back(moments[i * (moments.size() - 1) / (count - 1)]);
    }
    moments = std::move(some);
  } else {
    HG_ASSIGN(moments, EquallyFar(trace, from, to, points));
  }
  LiveHistory history;
  history.bytes.assign(request.groups, std::vector<uint64_t>(moments.size()));
  LiveStacks live(trace);
  for (size_t i = 0; i < moments.size(); ++i) {
    history.times_ns.push_back(moments[i].time_ns);
    HG_TRY(live.GoTo(moments[i].place));
    for (const HistoryRequest::Member& member : request.members) {
      if (member.stack < live.bytes().size()) {
        history.bytes[member.group][i] += live.bytes()[member.stack];
      }
    }
  }
  return history;
}

}  // namespace heapgauge::trace
