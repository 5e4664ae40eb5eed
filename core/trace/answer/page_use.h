// How live blocks lie over the address range: how many pages (or larger ranges) they touch, how
// much of these is theirs, and who keeps pages that are nearly empty. Memory that the allocator
// cannot give back, because a small block is in its midst, is found here.
//
// Pure functions of the live set.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/trace/answer/live_set.h"

namespace heapgauge::trace {

inline constexpr size_t kFillSteps = 8;

// Ranges of one size.
struct RangeUse {
  uint64_t unit = 0;                           // bytes of a range; a power of two
  uint64_t ranges = 0;                         // with at least one byte of a live block
  uint64_t live_bytes = 0;                     // in them
  std::array<uint64_t, kFillSteps> by_fill{};  // ranges that are up to 1/8, 2/8, ... full

  uint64_t bytes() const { return ranges * unit; }
  uint64_t free_bytes() const { return bytes() - live_bytes; }
};

// What a group keeps of ranges that are at most a quarter full. The free bytes of a range are
// shared out evenly among its blocks, so pinned bytes add up to what is free in all of them.
struct PinRow {
  uint32_t group = 0;
  uint64_t pinned_bytes = 0;
  uint64_t blocks = 0;  // in such ranges; one that reaches into two counts twice
  uint64_t live_bytes = 0;
  uint64_t ranges_alone = 0;  // that one block of it keeps by itself
};

struct PageUse {
  uint64_t time_ns = 0;
  std::string name;  // "peak", "end", "1.5s"
  uint64_t blocks = 0;
  uint64_t placed_blocks = 0;  // of these: whose address is known
  uint64_t bytes = 0;
  uint64_t slack_bytes = 0;
  uint64_t lowest = 0;   // address
  uint64_t highest = 0;  // end of the last block
  std::vector<RangeUse> ranges;
  uint64_t pin_unit = 0;
  uint64_t pinned_ranges = 0;
  uint64_t pinned_bytes = 0;
  std::vector<PinRow> pins;  // most bytes first

  // False if there are blocks, and nothing tells where.
  bool knows_places() const { return placed_blocks != 0 || blocks == 0; }
};

// Sorts `blocks`. `pin_unit` is the size of ranges for `pins`.
PageUse MeasurePageUse(const std::vector<uint64_t>& units, uint64_t pin_unit,
                       std::vector<PlacedBlock>* blocks);

}  // namespace heapgauge::trace
