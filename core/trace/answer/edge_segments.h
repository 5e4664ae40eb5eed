// Segments that a question needs event by event: those that its moments are within, three at the
// most.
//
// Who asks again and again keeps a SegmentCache: moving one end of a range then reads one segment.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/base/result.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::trace {

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

}  // namespace heapgauge::trace
