// How live blocks lie in memory at a moment of a trace: by address, as a picture, and on pages.
//
// What is found in a live set is a pure function of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/trace/file/block.h"
#include "core/trace/file/moment.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::trace {

// The blocks that were live at one moment of a trace, with their addresses: what questions about
// the layout of the heap start from. The moment is a place in the order of events, so also among
// events of the same nanosecond the answer is exact.
//
// Memory: 16 bytes for each block that is live then. A LiveMoment is read-only once made; several
// threads may ask it.
class LiveMoment {
 public:
  // What MomentWithin takes.
  static Result<LiveMoment> Find(const TraceFile& trace, const std::string& text,
                                 Mappings mappings = false);

  uint64_t time_ns() const { return time_ns_; }
  // Segments before this one hold no block that was live then.
  size_t segment() const { return segment_; }
  // Whether a segment may hold one.
  bool Concerns(const TraceFile& trace, size_t segment) const;
  // Whether a block that died in this segment, at this index of it, was live at the moment.
  bool WasLive(size_t segment, size_t index, const Block& block) const {
    if (segment < segment_ || block.number >= born_) return false;
    // The file may have changed since.
    return segment != segment_ || (index < dead_.size() && !dead_[index]);
  }
  // The same for a block that is live at the end of the trace.
  bool WasLive(const Block& survivor) const { return survivor.number < born_; }

 private:
  uint64_t time_ns_ = 0;
  size_t segment_ = 0;
  uint64_t born_ = 0;       // blocks with smaller numbers were born by then
  std::vector<bool> dead_;  // by index in the segment: was dead by then
};

struct PlacedBlock {
  uint64_t address = 0;
  uint32_t packed_size = 0;
  uint32_t group = 0;

  // Sizes from 2 GiB on are rounded up to multiples of 64 KiB.
  static PlacedBlock Make(const Block& block, uint32_t group);
  uint64_t size() const {
    return packed_size < kLarge ? packed_size : uint64_t{packed_size - kLarge} << 16;
  }

 private:
  static constexpr uint32_t kLarge = uint32_t{1} << 31;
};
static_assert(sizeof(PlacedBlock) == 16);

// The addresses of live blocks as a picture: cells of equal size, each with how much of it is live
// and whose most of that is. Where nothing lives for long the picture is cut, so that a heap at the
// low end of the address space and arenas at the high end fit into one.
//
// Memory is bounded by the number of cells.
struct AddressMap {
  static constexpr uint32_t kNobody = UINT32_MAX;
  struct Cell {
    uint64_t live_bytes = 0;
    uint64_t blocks = 0;         // that touch it
    uint32_t largest = kNobody;  // the group with the most bytes in it
    uint64_t largest_bytes = 0;
  };
  // Cells side by side. Between two areas nothing is live.
  struct Area {
    uint64_t start = 0;  // address
    size_t first = 0;    // cell
    size_t cells = 0;
  };

  uint64_t unit = 0;        // bytes of a cell; a power of two
  std::vector<Area> areas;  // by address
  std::vector<Cell> cells;  // of all areas
};

// Cells are as small as they can be if there are to be `most_cells` at the most, and at least
// `least_unit` (a power of two). REQUIRES: blocks are as MeasurePageUse leaves them.
AddressMap MapAddresses(const std::vector<PlacedBlock>& blocks, size_t most_cells,
                        uint64_t least_unit = 4096);

// What a group has within a range of addresses.
struct HolderRow {
  uint32_t group = 0;
  uint64_t bytes = 0;
  uint64_t blocks = 0;
};
struct Holders {
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  std::vector<HolderRow> rows;  // most bytes first
};
// Of [start, end). REQUIRES: as above.
Holders FindHolders(const std::vector<PlacedBlock>& blocks, uint64_t start, uint64_t end);

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

// How live blocks lie over the address range: how many pages (or larger ranges) they touch, how
// much of these is theirs, and who keeps pages that are nearly empty. Memory that the allocator
// cannot give back, because a small block is in its midst, is found here.
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
