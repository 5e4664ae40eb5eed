#include "core/trace/answer/live_stacks.h"

#include <algorithm>
#include <utility>

#include "core/trace/answer/trace_position.h"

namespace heapgauge::trace {

Status LiveStacks::GoTo(const Position& to) {
  const auto change = [this](uint32_t stack, uint64_t more, uint64_t less) {
    // The file may be damaged: no number is trusted.
    if (stack < bytes_.size()) bytes_[stack] += more - std::min(bytes_[stack] + more, less);
  };
  const auto apply = [&](uint32_t end) {
    for (; at_.event < end && at_.event < segment_.events.size(); ++at_.event) {
      const Event& event = segment_.events[at_.event];
      if (event.died != kNoIndex && Counts(segment_.blocks[event.died])) {
        change(segment_.blocks[event.died].stack, 0, segment_.blocks[event.died].size);
      }
      if (event.born != kNoIndex && Counts(segment_.blocks[event.born])) {
        change(segment_.blocks[event.born].stack, segment_.blocks[event.born].size, 0);
      }
    }
  };
  while (at_.segment < to.segment && at_.segment < trace_.segments().size()) {
    if (at_.event > 0 || counts_) {
      if (!has_segment_) {
        HG_TRY(trace_.ReadSegment(at_.segment, kOldBlocks | kNewBlocks | kEvents, &segment_));
      }
      apply(UINT32_MAX);
    } else {
      HG_TRY(trace_.ReadSums(at_.segment, &sums_));
      for (const StackSums& s : sums_) {
        if (!s.is_mapping) change(s.stack, s.allocated_bytes, s.freed_bytes);
      }
    }
    at_ = {at_.segment + 1, 0};
    has_segment_ = false;
  }
  if (at_.segment >= trace_.segments().size() || to.event <= at_.event) return {};
  if (!has_segment_) {
    HG_TRY(trace_.ReadSegment(at_.segment, kOldBlocks | kNewBlocks | kEvents, &segment_));
    has_segment_ = true;
  }
  apply(to.event);
  return {};
}

std::vector<uint32_t> LiveStacks::Largest(size_t count) const {
  std::vector<uint32_t> stacks;
  for (uint32_t i = 0; i < bytes_.size(); ++i) {
    if (bytes_[i] > 0) stacks.push_back(i);
  }
  const auto middle = stacks.begin() + static_cast<std::ptrdiff_t>(std::min(count, stacks.size()));
  std::partial_sort(stacks.begin(), middle, stacks.end(), [this](uint32_t a, uint32_t b) {
    return bytes_[a] != bytes_[b] ? bytes_[a] > bytes_[b] : a < b;
  });
  stacks.erase(middle, stacks.end());
  return stacks;
}

namespace {

// With so many, their ends are as good as any other moments.
constexpr size_t kEnoughSegments = 12;

struct KnownMoment {
  uint64_t time_ns = 0;
  Position at;
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
    moments.push_back({time, at});
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
    HG_TRY(live.GoTo(moments[i].at));
    for (const HistoryRequest::Member& member : request.members) {
      if (member.stack < live.bytes().size()) {
        history.bytes[member.group][i] += live.bytes()[member.stack];
      }
    }
  }
  return history;
}

}  // namespace heapgauge::trace
