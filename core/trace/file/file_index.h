// Where everything is in a trace file: the index, and the entry of each segment as bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/base/result.h"
#include "core/trace/file/chunk.h"
#include "core/trace/file/column.h"
#include "core/trace/file/segment.h"

namespace heapgauge::trace {

// The index entry of a segment as bytes: in the segment itself, and in the index of the file.
void EncodeInfo(const SegmentInfo& info, ColumnWriter* out);
// Fills in all but offset and bytes. False if it makes no sense.
bool DecodeInfo(ColumnReader* in, SegmentInfo* info);

// The entry that the chunk itself has.
Result<SegmentInfo> ReadSegmentInfo(const ByteSource& source, const ChunkReader& chunk);

// Where everything is in a trace file. A finished file has it written at its end; without that it
// is found by going from chunk to chunk, which costs one small read for each.
struct FileIndex {
  struct Chunk {
    ChunkType type;
    uint64_t offset;
  };
  std::vector<Chunk> chunks;  // all but segments and the index itself
  std::vector<SegmentInfo> segments;
  bool has_survivors = false;  // the chunks of survivors are all of them
  bool finished = false;
  std::vector<std::string> notes;
  uint64_t end = 0;  // of the last whole chunk, where there is no written index
};

// The chunk of kIndex.
std::span<const uint8_t> EncodeIndex(const FileIndex& index, ChunkMaker* chunk);

// Whether `next` has all that `index` has, and in the same places, before anything else.
bool IsContinuedBy(const FileIndex& index, const FileIndex& next);

// Fails only if the file is no trace, or one of another version. `growing`: somebody writes it, so
// that a chunk at its end which is not whole is no damage. `known` is an index of the same file
// when it was shorter; then only what is new is looked for.
Result<FileIndex> ReadIndex(const ByteSource& source, const std::string& name, bool growing = false,
                            const FileIndex* known = nullptr);

}  // namespace heapgauge::trace
