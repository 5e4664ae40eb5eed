#include "core/trace/answer/heap_layout.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/trace/answer/trace_moment.h"
#include "core/trace/answer/trace_position.h"

namespace heapgauge::trace {

Result<LiveMoment> LiveMoment::Find(const TraceFile& trace, const std::string& text,
                                    Mappings mappings) {
  HG_ASSIGN(const TraceMoment asked, MomentWithin(trace, text, mappings));
  EdgeSegments edges(trace, nullptr);
  HG_ASSIGN(const Position at, PositionAt(trace, asked, &edges));
  LiveMoment moment;
  moment.time_ns_ = asked.time_ns;
  moment.segment_ = at.segment;
  HG_ASSIGN(moment.born_, FirstBlockAt(trace, at, &edges));
  if (at.segment == trace.segments().size()) return moment;
  const SegmentInfo& info = trace.segments()[at.segment];
  moment.dead_.resize(size_t{info.old_deaths} + info.births);
  if (at.event == 0) return moment;
  HG_ASSIGN(const Segment* segment, edges.Get(at.segment));
  for (uint32_t i = 0; i < at.event && i < segment->events.size(); ++i) {
    const uint32_t died = segment->events[i].died;
    if (died < moment.dead_.size()) moment.dead_[died] = true;
  }
  return moment;
}

bool LiveMoment::Concerns(const TraceFile& trace, size_t segment) const {
  if (segment <= segment_) return segment == segment_;
  return trace.segments()[segment].oldest_birth < born_;
}

PlacedBlock PlacedBlock::Make(const Block& block, uint32_t group) {
  PlacedBlock live;
  live.address = block.address;
  live.group = group;
  live.packed_size = static_cast<uint32_t>(block.size);
  if (block.size >= kLarge) {
    const uint64_t units =
        std::min((block.size >> 16) + ((block.size & 0xffff) != 0 ? 1 : 0), uint64_t{kLarge - 1});
    live.packed_size = kLarge + static_cast<uint32_t>(units);
  }
  return live;
}

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

namespace {

// A range with what is in it: `members` are the blocks that touch it.
struct TouchedRange {
  uint64_t live_bytes = 0;
  std::vector<const PlacedBlock*> members;
};

// Calls range(r) for each range with live bytes, from the lowest on; those in the midst of a large
// block, which are full, as full(count). REQUIRES: sorted by address.
template <typename OnRange, typename OnFull>
void Walk(const std::vector<PlacedBlock>& blocks, uint64_t unit, const OnRange& on_range,
          const OnFull& on_full) {
  TouchedRange range;
  uint64_t at = UINT64_MAX;  // number of the range
  const auto flush = [&] {
    if (range.members.empty()) return;
    range.live_bytes = std::min(range.live_bytes, unit);
    on_range(range);
    range.live_bytes = 0;
    range.members.clear();
  };
  for (const PlacedBlock& block : blocks) {
    const uint64_t begin = block.address;
    // A block of no bytes has an address all the same.
    const uint64_t end = begin + std::max<uint64_t>(block.size(), 1);
    const uint64_t first = begin / unit;
    const uint64_t last = (end - 1) / unit;
    // Blocks do not overlap; if a damaged trace says so, what lies below was counted already.
    if (at != UINT64_MAX && last < at) continue;
    if (at != UINT64_MAX && first < at) {
      range.live_bytes += std::min(end, (at + 1) * unit) - at * unit;
    } else {
      if (first != at) {
        flush();
        at = first;
      }
      range.live_bytes += std::min(end, (first + 1) * unit) - begin;
    }
    range.members.push_back(&block);
    if (last == at) continue;
    flush();
    if (last - at > 1) on_full(last - at - 1);
    at = last;
    range.live_bytes = end - last * unit;
    range.members.push_back(&block);
  }
  flush();
}

RangeUse MeasureRanges(const std::vector<PlacedBlock>& blocks, uint64_t unit) {
  RangeUse use;
  use.unit = unit;
  Walk(
      blocks, unit,
      [&](const TouchedRange& range) {
        ++use.ranges;
        use.live_bytes += range.live_bytes;
        ++use.by_fill[(range.live_bytes * kFillSteps - 1) / unit];
      },
      [&](uint64_t count) {
        use.ranges += count;
        use.live_bytes += count * unit;
        use.by_fill[kFillSteps - 1] += count;
      });
  return use;
}

void FindPins(const std::vector<PlacedBlock>& blocks, PageUse* use) {
  const uint64_t unit = use->pin_unit;
  std::unordered_map<uint32_t, PinRow> rows;
  Walk(
      blocks, unit,
      [&](const TouchedRange& range) {
        if (range.live_bytes > unit / 4) return;
        const uint64_t free = unit - range.live_bytes;
        ++use->pinned_ranges;
        use->pinned_bytes += free;
        const uint64_t members = range.members.size();
        for (uint64_t i = 0; i < members; ++i) {
          const PlacedBlock& block = *range.members[i];
          PinRow& row = rows[block.group];
          row.group = block.group;
          row.pinned_bytes += free / members + (i < free % members ? 1 : 0);
          row.live_bytes += std::min(block.size(), range.live_bytes);
          ++row.blocks;
          if (members == 1) ++row.ranges_alone;
        }
      },
      [](uint64_t) {});
  for (const auto& [group, row] : rows) use->pins.push_back(row);
  std::sort(use->pins.begin(), use->pins.end(), [](const PinRow& a, const PinRow& b) {
    return a.pinned_bytes != b.pinned_bytes ? a.pinned_bytes > b.pinned_bytes : a.group < b.group;
  });
}

}  // namespace

PageUse MeasurePageUse(const std::vector<uint64_t>& units, uint64_t pin_unit,
                       std::vector<PlacedBlock>* blocks) {
  PageUse use;
  use.pin_unit = pin_unit;
  // What cannot be in an address space is damage.
  constexpr uint64_t kAddresses = uint64_t{1} << 57;
  blocks->erase(std::remove_if(blocks->begin(), blocks->end(),
                               [](const PlacedBlock& block) {
                                 return block.address == 0 || block.address >= kAddresses;
                               }),
                blocks->end());
  std::sort(blocks->begin(), blocks->end(), [](const PlacedBlock& a, const PlacedBlock& b) {
    return a.address != b.address ? a.address < b.address : a.packed_size < b.packed_size;
  });
  use.placed_blocks = blocks->size();
  if (!blocks->empty()) use.lowest = blocks->front().address;
  for (const PlacedBlock& block : *blocks) {
    use.highest = std::max(use.highest, block.address + block.size());
  }
  for (const uint64_t unit : units) use.ranges.push_back(MeasureRanges(*blocks, unit));
  FindPins(*blocks, &use);
  return use;
}

}  // namespace heapgauge::trace
