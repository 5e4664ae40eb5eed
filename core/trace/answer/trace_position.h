// Places between two events of a trace, the segments that lie around them, and moments that single
// blocks are asked about.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/base/result.h"
#include "core/trace/file/block.h"
#include "core/trace/file/moment.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::trace {

// Segments that a question needs event by event: those that its moments are within, three at the
// most.
//
// Who asks again and again keeps a SegmentCache: moving one end of a range then reads one segment.

// The last few segments, with blocks and events. Thread-safe.
class SegmentCache {
 public:
  explicit SegmentCache(size_t capacity = 3) : capacity_(capacity) {}

  // Reads it if it is not there.
  Result<std::shared_ptr<const Segment>> Get(const TraceFile& trace, size_t index);

 private:
  struct Entry {
    size_t index;
    std::shared_ptr<Segment> segment;
  };

  std::shared_ptr<Segment> TakeOldest();

  const size_t capacity_;
  std::mutex mutex_;
  std::deque<Entry> entries_;  // the last one used is the last
};

// Of one question; not synchronised.
class EdgeSegments {
 public:
  // `cache` may be null.
  EdgeSegments(const TraceFile& trace, SegmentCache* cache) : trace_(trace), cache_(cache) {}

  // Valid as long as this object.
  Result<const Segment*> Get(size_t index);
  // Reads several at the same time. Errors come with Get.
  void Prepare(const std::vector<size_t>& indexes);

 private:
  Result<std::shared_ptr<const Segment>> Read(size_t index) const;

  const TraceFile& trace_;
  SegmentCache* const cache_;
  std::map<size_t, std::shared_ptr<const Segment>> read_;
};

// Places between two events of a trace, by segment: where questions about moments are answered.
// They tell events of the same nanosecond apart.
//
// Pure functions of an open trace; thread-safe.
//
// Before the event of that index in the segment; at the end: {segments, 0}.
struct Position {
  size_t segment = 0;
  uint32_t event = 0;

  friend auto operator<=>(const Position&, const Position&) = default;
};

// Reads the segments that the two ends of a range are within, at the same time.
void PrepareEdges(const TraceFile& trace, const TraceRange& range, EdgeSegments* edges);

Result<Position> PositionAt(const TraceFile& trace, const TraceMoment& moment, EdgeSegments* edges);

// The same place as a moment. `time_ns` is the time of the event before it.
TraceMoment MomentAt(const TraceFile& trace, Position at, uint64_t time_ns);

// The number of the first block that is born at or behind the position.
Result<uint64_t> FirstBlockAt(const TraceFile& trace, Position at, EdgeSegments* edges);

// A moment that single blocks are asked about: was it born by then, was it freed? A block knows its
// number and its times, but not its place among the events of one nanosecond; where the moment
// lies between those, it keeps what is needed to tell.
//
// Plain data; copies share what is kept.
struct ExactMoment {
  uint64_t time_ns = 0;
  // Of a moment among events of the same time: the number of the first block that was born later,
  // and which of those that died in its nanosecond had done so by then, sorted.
  uint64_t first_unborn = UINT64_MAX;
  std::shared_ptr<const std::vector<uint64_t>> dead;

  // Reads the segments that have events of its nanosecond, if it lies among them.
  static Result<ExactMoment> Find(const TraceFile& trace, const TraceMoment& moment);

  bool HasBegun(uint64_t number, uint64_t birth_ns) const {
    return birth_ns <= time_ns && number < first_unborn;
  }
  bool HasEnded(uint64_t number, uint64_t death_ns) const {
    if (death_ns != time_ns || death_ns == kNever) return death_ns < time_ns;
    return dead == nullptr || std::binary_search(dead->begin(), dead->end(), number);
  }
  bool HasBegun(const Block& block) const { return HasBegun(block.number, block.birth_ns); }
  bool HasEnded(const Block& block) const { return HasEnded(block.number, block.death_ns); }

  friend bool operator==(const ExactMoment&, const ExactMoment&) = default;
};

}  // namespace heapgauge::trace
