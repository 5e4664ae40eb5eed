#include "core/trace/answer/address_map.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace heapgauge::trace {
namespace {

// So many empty cells in a row are left out.
constexpr uint64_t kGap = 64;
// A picture of more pieces is hard to read: cells are made larger, up to so many times, to join
// them.
constexpr size_t kFewAreas = 16;
constexpr uint64_t kMostJoining = 16;
// Beyond all addresses: one cell holds everything.
constexpr uint64_t kMostUnit = uint64_t{1} << 57;

struct CellRange {
  uint64_t first = 0;
  uint64_t last = 0;
};

// A block of no bytes has an address all the same.
uint64_t EndOf(const PlacedBlock& block) {
  return block.address + std::max<uint64_t>(block.size(), 1);
}

CellRange CellsOf(const PlacedBlock& block, uint64_t unit) {
  return {block.address / unit, (EndOf(block) - 1) / unit};
}

// Areas as ranges of cells, from the lowest on. Stops when there are more than `most` cells.
std::vector<CellRange> AreasOf(const std::vector<PlacedBlock>& blocks, uint64_t unit, size_t most) {
  std::vector<CellRange> areas;
  uint64_t before = 0;  // cells of areas that are closed
  for (const PlacedBlock& block : blocks) {
    const CellRange cells = CellsOf(block, unit);
    if (areas.empty() || cells.first > areas.back().last + kGap) {
      if (!areas.empty()) before += areas.back().last - areas.back().first + 1;
      areas.push_back(cells);
    } else {
      areas.back().last = std::max(areas.back().last, cells.last);
    }
    if (before + (areas.back().last - areas.back().first) >= most) break;
  }
  return areas;
}

uint64_t CountCells(const std::vector<CellRange>& areas) {
  uint64_t cells = 0;
  for (const CellRange& area : areas) cells += area.last - area.first + 1;
  return cells;
}

// What groups have in the cell that is being filled.
class CellFiller {
 public:
  void Add(uint32_t group, uint64_t bytes, AddressMap::Cell* cell) {
    cell->live_bytes += bytes;
    ++cell->blocks;
    uint64_t& sum = of_group_[group];
    sum += bytes;
    // Of two that have as much, the lower number, whatever their order.
    if (cell->largest == AddressMap::kNobody || sum > cell->largest_bytes ||
        (sum == cell->largest_bytes && group < cell->largest)) {
      cell->largest = group;
      cell->largest_bytes = sum;
    }
  }
  void Next() { of_group_.clear(); }

 private:
  std::unordered_map<uint32_t, uint64_t> of_group_;
};

}  // namespace

AddressMap MapAddresses(const std::vector<PlacedBlock>& blocks, size_t most_cells,
                        uint64_t least_unit) {
  AddressMap map;
  map.unit = std::max<uint64_t>(least_unit, 1);
  if (blocks.empty()) return map;
  most_cells = std::max<size_t>(most_cells, 1);
  std::vector<CellRange> ranges = AreasOf(blocks, map.unit, most_cells);
  while (CountCells(ranges) > most_cells && map.unit < kMostUnit) {
    map.unit *= 2;
    ranges = AreasOf(blocks, map.unit, most_cells);
  }
  const uint64_t joined_up_to = map.unit * kMostJoining;
  for (uint64_t unit = map.unit; ranges.size() > kFewAreas && unit < joined_up_to;) {
    unit *= 2;
    std::vector<CellRange> joined = AreasOf(blocks, unit, most_cells);
    if (CountCells(joined) > most_cells || joined.size() > kFewAreas) continue;
    ranges = std::move(joined);
    map.unit = unit;
  }
  for (const CellRange& range : ranges) {
    map.areas.push_back({range.first * map.unit, map.cells.size(), range.last - range.first + 1});
    map.cells.resize(map.cells.size() + map.areas.back().cells);
  }
  CellFiller filler;
  size_t area = 0;
  size_t current = SIZE_MAX;
  for (const PlacedBlock& block : blocks) {
    const CellRange cells = CellsOf(block, map.unit);
    while (area + 1 < map.areas.size() && block.address >= map.areas[area + 1].start) ++area;
    const uint64_t end = EndOf(block);
    for (uint64_t number = cells.first; number <= cells.last; ++number) {
      const size_t index = map.areas[area].first + (number - map.areas[area].start / map.unit);
      // If a damaged trace has blocks that overlap, the filler has moved on.
      if (index != current) filler.Next();
      current = index;
      const uint64_t begin = std::max(block.address, number * map.unit);
      filler.Add(block.group, std::min(end, (number + 1) * map.unit) - begin, &map.cells[index]);
    }
  }
  for (AddressMap::Cell& cell : map.cells) {
    cell.live_bytes = std::min(cell.live_bytes, map.unit);
    cell.largest_bytes = std::min(cell.largest_bytes, map.unit);
  }
  return map;
}

Holders FindHolders(const std::vector<PlacedBlock>& blocks, uint64_t start, uint64_t end) {
  Holders holders;
  std::unordered_map<uint32_t, HolderRow> rows;
  for (const PlacedBlock& block : blocks) {
    if (block.address >= end) break;
    const uint64_t block_end = EndOf(block);
    if (block_end <= start) continue;
    const uint64_t bytes = std::min(block_end, end) - std::max(block.address, start);
    HolderRow& row = rows[block.group];
    row.group = block.group;
    row.bytes += bytes;
    ++row.blocks;
    holders.bytes += bytes;
    ++holders.blocks;
  }
  for (const auto& [group, row] : rows) holders.rows.push_back(row);
  std::sort(holders.rows.begin(), holders.rows.end(), [](const HolderRow& a, const HolderRow& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.group < b.group;
  });
  return holders;
}

}  // namespace heapgauge::trace
