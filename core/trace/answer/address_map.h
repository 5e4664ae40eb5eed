// The addresses of live blocks as a picture: cells of equal size, each with how much of it is live
// and whose most of that is. Where nothing lives for long the picture is cut, so that a heap at the
// low end of the address space and arenas at the high end fit into one.
//
// Pure functions of the live set. Memory is bounded by the number of cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/trace/answer/live_set.h"

namespace heapgauge::trace {

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

}  // namespace heapgauge::trace
