// A stretch of a trace that is stored, compressed and read by itself: some hundred thousand events,
// with all that is known about each block that was born or died in it, also if it was born long
// before. So any stretch can be answered from its own bytes, stretches can be read by several
// threads, and memory does not depend on the length of the trace.
//
// Plain data. A Segment is large; reuse one for reading many.
#pragma once

#include <cstdint>
#include <vector>

#include "core/trace/file/block.h"

namespace heapgauge::trace {

// What the index of the file tells about a segment without reading it.
struct SegmentInfo {
  uint64_t offset = 0;  // in the file
  uint64_t bytes = 0;
  uint64_t first_event = 0;  // number of its first event
  uint64_t first_block = 0;  // number of the first block born in it
  uint32_t events = 0;
  uint32_t births = 0;
  uint32_t deaths = 0;
  uint32_t old_deaths = 0;           // of these, of blocks born in earlier segments
  uint64_t oldest_birth = kNoBlock;  // the least number among those
  uint64_t begin_ns = 0;             // time of its first event
  uint64_t end_ns = 0;               // time of its last event
  // Heap blocks only, mappings left out.
  uint64_t live_bytes_before = 0;  // when it began
  uint64_t live_blocks_before = 0;
  uint64_t live_bytes_after = 0;
  uint64_t live_blocks_after = 0;
  uint64_t peak_bytes = 0;  // the most at any event in it
  uint64_t peak_ns = 0;     // when
  uint32_t peak_event = 0;  // the first event (index in the segment) after which it was so
};

// Which parts of a segment to read; the rest of its bytes are skipped.
enum Parts : uint32_t {
  kOldBlocks = 1,  // blocks that were born before and died here
  kNewBlocks = 2,  // blocks that were born here
  kEvents = 4,     // the order of all that happened; needs both kinds of blocks
  kAddresses = 8,  // Block::address; else 0
  kDetails = 16,   // Block::slack, function, alignment_log2; else 0. is_mapping is always there
  kEverything = 31,
};

struct Segment {
  SegmentInfo info;
  // First the info.old_deaths old ones, in order of death, then the new ones in order of birth.
  // `death_ns` of a new one is kNever if it outlived the segment.
  std::vector<Block> blocks;
  std::vector<Event> events;  // in order of time
};

// What a segment did to one stack: enough to add up ranges of a trace without its events. A stack
// has a row for its heap blocks and one for its mappings, where it has such.
struct StackSums {
  uint32_t stack = 0;
  bool is_mapping = false;
  uint64_t allocated_blocks = 0;
  uint64_t allocated_bytes = 0;
  uint64_t freed_blocks = 0;
  uint64_t freed_bytes = 0;
  uint64_t temporary_blocks = 0;  // of the freed ones: distance 0
  uint64_t temporary_bytes = 0;
  double lifetime_byte_ns = 0;  // of the freed ones: size times lifetime
};

}  // namespace heapgauge::trace
