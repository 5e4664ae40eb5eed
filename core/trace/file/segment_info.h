// The index entry of a segment as bytes: in the segment itself, and in the index of the file.
#pragma once

#include "core/base/file.h"
#include "core/base/result.h"
#include "core/trace/file/chunk.h"
#include "core/trace/file/column.h"
#include "core/trace/file/segment.h"

namespace heapgauge::trace {

void EncodeInfo(const SegmentInfo& info, ColumnWriter* out);
// Fills in all but offset and bytes. False if it makes no sense.
bool DecodeInfo(ColumnReader* in, SegmentInfo* info);

// The entry that the chunk itself has.
Result<SegmentInfo> ReadSegmentInfo(const ByteSource& source, const ChunkReader& chunk);

}  // namespace heapgauge::trace
