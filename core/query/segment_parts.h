// The parts of segments that were read last. A scan reads each once; looking up single blocks by
// their numbers, as joins do, comes back to the same ones again and again.
//
// It also counts what was really read, which is how tests know that a question about one second
// does not touch the rest of the trace. Not synchronised.
#pragma once

#include <cstdint>
#include <list>
#include <memory>

#include "core/base/result.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::query {

class SegmentParts {
 public:
  explicit SegmentParts(const trace::TraceFile& trace) : trace_(trace) {}

  // At least these parts of a segment.
  Result<std::shared_ptr<const trace::Segment>> Read(size_t index, uint32_t parts);

  uint64_t reads() const { return reads_; }  // of the file
  uint64_t parts_read() const { return parts_read_; }

 private:
  static constexpr size_t kKept = 3;
  struct Entry {
    size_t index = 0;
    uint32_t parts = 0;
    std::shared_ptr<trace::Segment> segment;
  };

  const trace::TraceFile& trace_;
  std::list<Entry> entries_;  // the last used first
  uint64_t reads_ = 0;
  uint64_t parts_read_ = 0;  // kinds of parts, one bit each
};

}  // namespace heapgauge::query
