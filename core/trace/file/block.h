// A block of memory in an exact trace: where, when and by whom it was allocated, and what became of
// it. A block that realloc makes of another is a new block which names the old one.
//
// Plain data.
#pragma once

#include <cstdint>

namespace heapgauge::trace {

inline constexpr uint64_t kNever = UINT64_MAX;    // as a time
inline constexpr uint64_t kNoBlock = UINT64_MAX;  // as a number
inline constexpr uint32_t kNoIndex = UINT32_MAX;

// Block::distance of a block that another thread freed, or that nobody did.
inline constexpr uint32_t kForeign = UINT32_MAX;

// What is known of a block from the moment it is there.
struct Birth {
  uint64_t number = 0;  // allocations are numbered from 0 in order of time, through the whole trace
  uint64_t birth_ns = 0;  // since the recording began
  uint64_t address = 0;
  uint64_t size = 0;             // as requested
  uint64_t previous = kNoBlock;  // number of the block that realloc or a cut made it of
  uint32_t thread = 0;           // index of the thread that allocated it
  uint32_t stack = 0;            // of the allocation, 0 unknown
  uint16_t slack = 0;            // bytes that the allocator gave beyond `size`; 65535: or more
  uint8_t function = 0;          // wire::AllocationFunction
  uint8_t alignment_log2 = 0;    // that was asked for; 0 none
  bool is_mapping = false;       // by mmap, not by the allocator
};

// How a block ended.
struct Death {
  uint64_t time_ns = kNever;
  uint32_t thread = kNoIndex;
  // How many allocations its thread made between birth and death, if it also freed it. 0: before
  // the next one, which is what people call temporary.
  uint32_t distance = kForeign;
};

struct Block : Birth {
  bool resized_away = false;  // it ended as the `previous` of another block
  uint64_t death_ns = kNever;
  uint32_t death_thread = kNoIndex;
  uint32_t distance = kForeign;  // see Death

  Death death() const { return {death_ns, death_thread, distance}; }
  bool is_live() const { return death_ns == kNever; }
  uint64_t lifetime_ns(uint64_t now_ns) const {
    const uint64_t end = is_live() ? now_ns : death_ns;
    return end > birth_ns ? end - birth_ns : 0;
  }
};
static_assert(sizeof(Block) == 72);  // readers have millions

// What happened at one moment. An allocation has a block that was born, a free one that died, and
// realloc both.
struct Event {
  uint64_t time_ns = 0;
  uint32_t born = kNoIndex;  // index in Segment::blocks
  uint32_t died = kNoIndex;
};

}  // namespace heapgauge::trace
