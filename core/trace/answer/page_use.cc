#include "core/trace/answer/page_use.h"

#include <algorithm>
#include <unordered_map>

namespace heapgauge::trace {
namespace {

// A range with what is in it: `members` are the blocks that touch it.
struct Range {
  uint64_t live_bytes = 0;
  std::vector<const PlacedBlock*> members;
};

// Calls range(r) for each range with live bytes, from the lowest on; those in the midst of a large
// block, which are full, as full(count). REQUIRES: sorted by address.
template <typename OnRange, typename OnFull>
void Walk(const std::vector<PlacedBlock>& blocks, uint64_t unit, const OnRange& on_range,
          const OnFull& on_full) {
  Range range;
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
      [&](const Range& range) {
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
      [&](const Range& range) {
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
