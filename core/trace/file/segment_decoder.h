// Reads segments back: the parts that were asked for, and no bytes of the others.
//
// Pure functions over hostile bytes. A segment that is returned keeps what
// core/trace/file/segment.h promises: indexes of events are within blocks, stacks and threads below
// the limits given.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/file.h"
#include "core/base/result.h"
#include "core/trace/file/chunk.h"
#include "core/trace/file/column.h"
#include "core/trace/file/scratch.h"
#include "core/trace/file/segment.h"

namespace heapgauge::trace {

struct SegmentLimits {
  uint32_t stacks = 1;   // numbers are below
  uint32_t threads = 0;  // indexes are below, or kNoIndex
};

Status DecodeSegment(const ByteSource& source, const ChunkReader& chunk, const SegmentInfo& info,
                     const SegmentLimits& limits, uint32_t parts, Scratch* scratch, Segment* out);

// From the chunk if it has them, otherwise from the events.
Status DecodeSegmentSums(const ByteSource& source, const ChunkReader& chunk,
                         const SegmentInfo& info, const SegmentLimits& limits, Scratch* scratch,
                         std::vector<StackSums>* out);

}  // namespace heapgauge::trace
