#include "core/trace/answer/trace_position.h"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/threads.h"

namespace heapgauge::trace {
namespace {

// With what any filter needs (BlockFilter::needed_parts), since those who ask share them.
constexpr uint32_t kNeeded = kOldBlocks | kNewBlocks | kEvents | kDetails;

}  // namespace

// One that nobody else has, to be filled again: its memory is there already.
std::shared_ptr<Segment> SegmentCache::TakeOldest() {
  const std::lock_guard lock(mutex_);
  if (entries_.size() < capacity_) return nullptr;
  std::shared_ptr<Segment> oldest = std::move(entries_.front().segment);
  entries_.pop_front();
  if (oldest.use_count() != 1) return nullptr;
  // Whoever let go of it last has read it. Looking at the count orders nothing, letting go of
  // another one does; ThreadSanitizer knows no fences.
  std::shared_ptr<Segment>(oldest).reset();
  return oldest;
}

Result<std::shared_ptr<const Segment>> SegmentCache::Get(const TraceFile& trace, size_t index) {
  {
    const std::lock_guard lock(mutex_);
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      if (it->index != index) continue;
      Entry found = *it;
      entries_.erase(it);
      entries_.push_back(found);
      return std::shared_ptr<const Segment>(found.segment);
    }
  }
  std::shared_ptr<Segment> segment = TakeOldest();
  if (segment == nullptr) segment = std::make_shared<Segment>();
  HG_TRY(trace.ReadSegment(index, kNeeded, segment.get()));
  const std::lock_guard lock(mutex_);
  if (entries_.size() >= capacity_) entries_.pop_front();
  entries_.push_back({index, segment});
  return std::shared_ptr<const Segment>(segment);
}

Result<std::shared_ptr<const Segment>> EdgeSegments::Read(size_t index) const {
  if (cache_ != nullptr) return cache_->Get(trace_, index);
  auto segment = std::make_shared<Segment>();
  HG_TRY(trace_.ReadSegment(index, kNeeded, segment.get()));
  return std::shared_ptr<const Segment>(segment);
}

Result<const Segment*> EdgeSegments::Get(size_t index) {
  auto& segment = read_[index];
  if (segment == nullptr) {
    HG_ASSIGN(segment, Read(index));
  }
  return segment.get();
}

void EdgeSegments::Prepare(const std::vector<size_t>& indexes) {
  if (indexes.size() < 2 || indexes.front() == indexes.back()) return;
  std::shared_ptr<const Segment> last;
  std::thread other = TryThread([&] {
    if (auto segment = Read(indexes.back())) last = *std::move(segment);
  });
  if (!other.joinable()) return;
  if (auto segment = Read(indexes.front())) read_[indexes.front()] = *std::move(segment);
  other.join();
  if (last != nullptr) read_[indexes.back()] = std::move(last);
}

namespace {

// The first segment that has events behind the time.
size_t SegmentBehind(const TraceFile& trace, uint64_t time_ns) {
  const auto& segments = trace.segments();
  const auto it =
      std::partition_point(segments.begin(), segments.end(),
                           [&](const SegmentInfo& info) { return info.end_ns <= time_ns; });
  return static_cast<size_t>(it - segments.begin());
}

// Behind so many events of the trace.
Position BehindEvents(const TraceFile& trace, uint64_t events) {
  const auto& segments = trace.segments();
  const auto next =
      std::partition_point(segments.begin(), segments.end(),
                           [&](const SegmentInfo& info) { return info.first_event <= events; });
  if (next == segments.begin()) return {};
  const auto index = static_cast<size_t>(next - segments.begin()) - 1;
  const uint64_t event = events - segments[index].first_event;
  if (event >= segments[index].events) return {index + 1, 0};
  return {index, static_cast<uint32_t>(event)};
}

// The segment whose events must be read to find the moment, if there is one.
std::optional<size_t> SegmentWithin(const TraceFile& trace, const TraceMoment& moment) {
  if (moment.is_among_events()) {
    const Position at = BehindEvents(trace, moment.events);
    return at.event == 0 ? std::nullopt : std::optional<size_t>(at.segment);
  }
  const size_t index = SegmentBehind(trace, moment.time_ns);
  const bool within =
      index < trace.segments().size() && trace.segments()[index].begin_ns <= moment.time_ns;
  return within ? std::optional<size_t>(index) : std::nullopt;
}

}  // namespace

void PrepareEdges(const TraceFile& trace, const TraceRange& range, EdgeSegments* edges) {
  std::vector<size_t> needed;
  for (const TraceMoment& moment : {range.from, range.to}) {
    if (const auto segment = SegmentWithin(trace, moment)) needed.push_back(*segment);
  }
  edges->Prepare(needed);
}

Result<Position> PositionAt(const TraceFile& trace, const TraceMoment& moment,
                            EdgeSegments* edges) {
  if (moment.is_among_events()) return BehindEvents(trace, moment.events);
  const std::optional<size_t> within = SegmentWithin(trace, moment);
  if (!within) return Position{SegmentBehind(trace, moment.time_ns), 0};
  HG_ASSIGN(const Segment* segment, edges->Get(*within));
  const auto later =
      std::partition_point(segment->events.begin(), segment->events.end(),
                           [&](const Event& event) { return event.time_ns <= moment.time_ns; });
  if (later == segment->events.end()) return Position{*within + 1, 0};
  return Position{*within, static_cast<uint32_t>(later - segment->events.begin())};
}

TraceMoment MomentAt(const TraceFile& trace, Position at, uint64_t time_ns) {
  const uint64_t before = at.segment < trace.segments().size()
                              ? trace.segments()[at.segment].first_event
                              : trace.events();
  return {time_ns, before + at.event};
}

Result<uint64_t> FirstBlockAt(const TraceFile& trace, Position at, EdgeSegments* edges) {
  if (at.segment >= trace.segments().size()) return trace.blocks();
  uint64_t number = trace.segments()[at.segment].first_block;
  if (at.event == 0) return number;
  HG_ASSIGN(const Segment* segment, edges->Get(at.segment));
  for (uint32_t i = 0; i < at.event && i < segment->events.size(); ++i) {
    number += segment->events[i].born != kNoIndex ? 1 : 0;
  }
  return number;
}

Result<ExactMoment> ExactMoment::Find(const TraceFile& trace, const TraceMoment& moment) {
  ExactMoment exact;
  exact.time_ns = moment.time_ns;
  if (!moment.is_among_events()) return exact;
  EdgeSegments edges(trace, nullptr);
  HG_ASSIGN(const Position at, PositionAt(trace, moment, &edges));
  const std::vector<SegmentInfo>& segments = trace.segments();
  exact.first_unborn =
      at.segment < segments.size() ? segments[at.segment].first_block : trace.blocks();
  std::vector<uint64_t> dead;
  Segment segment;
  // Its nanosecond may have begun segments ago.
  for (size_t i = std::min(at.segment + 1, segments.size());
       i-- > 0 && (i == at.segment || segments[i].end_ns >= moment.time_ns);) {
    const uint32_t count = i == at.segment ? at.event : segments[i].events;
    if (count == 0) continue;
    HG_TRY(trace.ReadSegment(i, kOldBlocks | kNewBlocks | kEvents, &segment));
    for (uint32_t e = 0; e < count && e < segment.events.size(); ++e) {
      const Event& event = segment.events[e];
      if (i == at.segment && event.born != kNoIndex) ++exact.first_unborn;
      if (event.time_ns == moment.time_ns && event.died != kNoIndex) {
        dead.push_back(segment.blocks[event.died].number);
      }
    }
  }
  std::sort(dead.begin(), dead.end());
  exact.dead = std::make_shared<const std::vector<uint64_t>>(std::move(dead));
  return exact;
}

}  // namespace heapgauge::trace
