// Blocks that were live at the end of a trace, as columns of a chunk of kSurvivors.
//
// Pure functions; the bytes are hostile.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/base/file.h"
#include "core/base/result.h"
#include "core/trace/file/block.h"
#include "core/trace/file/chunk.h"
#include "core/trace/file/segment_decoder.h"

namespace heapgauge::trace {

// How many blocks a chunk has at most.
inline constexpr size_t kMaxSurvivors = 1 << 18;

// REQUIRES: in order of their numbers, at most kMaxSurvivors.
std::span<const uint8_t> EncodeSurvivors(std::span<const Block> blocks, ChunkMaker* chunk);
// `blocks_in_trace`: numbers are below.
Status DecodeSurvivors(const ByteSource& source, const ChunkReader& chunk,
                       const SegmentLimits& limits, uint64_t blocks_in_trace,
                       std::vector<Block>* out);

}  // namespace heapgauge::trace
