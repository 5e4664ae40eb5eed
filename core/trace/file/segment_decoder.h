// Reads segments back, and keeps the memory that this needs for the next one.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/base/file.h"
#include "core/base/result.h"
#include "core/trace/file/chunk.h"
#include "core/trace/file/column.h"
#include "core/trace/file/expectation.h"
#include "core/trace/file/segment.h"
#include "core/trace/file/segment_columns.h"

namespace heapgauge::trace {

// Memory that reading a segment needs for a moment, kept for the next one: buffers of columns, what
// the decoder expects, a context of zstd.
//
// A Scratch serves one thread at a time; ScratchPool hands them out to any.
struct Scratch {
  ColumnBuffer columns[kSegmentColumns];
  Decompressor decompressor;
  Expectation expectation;
  std::vector<uint32_t> sorted;     // stacks of the segment
  std::vector<StackMemory> stacks;  // the same, in order of appearance
};

class ScratchPool {
 public:
  std::unique_ptr<Scratch> Take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<Scratch>();
    std::unique_ptr<Scratch> scratch = std::move(idle_.back());
    idle_.pop_back();
    return scratch;
  }
  void Return(std::unique_ptr<Scratch> scratch) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < kMaxIdle) idle_.push_back(std::move(scratch));
  }

 private:
  static constexpr size_t kMaxIdle = 4;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch>> idle_;
};

struct SegmentLimits {
  uint32_t stacks = 1;   // numbers are below
  uint32_t threads = 0;  // indexes are below, or kNoIndex
};

// Reads segments back: the parts that were asked for, and no bytes of the others.
//
// Pure functions over hostile bytes. A segment that is returned keeps what
// core/trace/file/segment.h promises: indexes of events are within blocks, stacks and threads below
// the limits given.
Status DecodeSegment(const ByteSource& source, const ChunkReader& chunk, const SegmentInfo& info,
                     const SegmentLimits& limits, uint32_t parts, Scratch* scratch, Segment* out);

// From the chunk if it has them, otherwise from the events.
Status DecodeSegmentSums(const ByteSource& source, const ChunkReader& chunk,
                         const SegmentInfo& info, const SegmentLimits& limits, Scratch* scratch,
                         std::vector<StackSums>* out);

}  // namespace heapgauge::trace
