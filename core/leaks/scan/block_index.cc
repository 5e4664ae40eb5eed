#include "core/leaks/scan/block_index.h"

#include <algorithm>

namespace heapgauge::leaks {

template <typename Items, typename RangeOf>
void BlockIndex::SetExtents(const Items& items, RangeOf&& range_of) {
  count_ = items.size();
  extents_.Reserve(count_ + kSteps + 1);
  AddressRange* at = extents_.data();
  uint64_t end = 0;  // of the last one
  for (const auto& item : items) {
    const AddressRange range = range_of(item);
    if (range.start < end) at[-1].end = range.start;
    end = range.end;
    *at++ = range;
  }
  std::fill(at, at + kSteps + 1, AddressRange{UINT64_MAX, UINT64_MAX});
}

BlockIndex::BlockIndex(const std::vector<KnownBlock>& blocks) {
  SetExtents(blocks, [](const KnownBlock& block) {
    const uint64_t room = UINT64_MAX - block.address;
    const uint64_t size = std::min(std::max<uint64_t>(block.size, 1), room);
    return AddressRange{block.address, block.address + size};
  });
  Build();
}

BlockIndex::BlockIndex(const std::vector<AddressRange>& ranges) {
  SetExtents(ranges, [](const AddressRange& range) { return range; });
  Build();
}

void BlockIndex::Build() {
  rows_.Reserve(count_ * 3 / 2 + 1);
  rows_[0] = {0, kNoBlock, 1};
  rows_count_ = 1;
  // Addresses that no program can have are found nowhere.
  size_t usable = count_;
  while (usable > 0 && extents_[usable - 1].start >= kMaxAddress) --usable;
  if (usable == 0) return;
  low_ = extents_[0].start;
  const uint64_t high = std::min(extents_[usable - 1].end, kMaxAddress);
  span_ = high - low_;

  part_of_.assign((((high - 1) >> kPartBits) - (low_ >> kPartBits)) + 1, 0);
  uint32_t whole_block = kNoBlock;  // the last one that filled a part alone, and that part
  uint32_t whole_part = 0;
  uint32_t block = 0;
  for (size_t gib = 0; gib < part_of_.size(); ++gib) {
    const uint64_t base = ((low_ >> kPartBits) + gib) << kPartBits;
    while (block < usable && extents_[block].end <= base) ++block;
    if (block == usable || extents_[block].start >= base + kPartSize) continue;
    const bool whole = extents_[block].start <= base && extents_[block].end >= base + kPartSize;
    if (whole && block == whole_block) {
      part_of_[gib] = whole_part;
      continue;
    }
    const uint32_t behind = BuildPart(base, block, &part_of_[gib]);
    if (whole) {
      whole_block = block;
      whole_part = part_of_[gib];
    }
    block = behind - 1;  // it may reach into the next GiB
  }
  FindMainParts();
}

void BlockIndex::FindMainParts() {
  MainParts run;
  for (size_t gib = 0; gib < part_of_.size(); ++gib) {
    const Part& part = parts_[part_of_[gib]];
    const uint64_t start = (((low_ >> kPartBits) + gib) << kPartBits) + part.first;
    const Row* rows = &rows_[part.row];
    if (rows->is_bucket != 0) {
      run = {};
      continue;
    }
    const uint64_t offset = start - run.start;
    if (run.size == 0 || offset % (uint64_t{1} << kRowShift) != 0 ||
        run.rows + (offset >> kRowShift) != rows) {
      run = {start, 0, rows};
    }
    run.size = start + part.size - run.start;
    if (run.size > main_.size) main_ = run;
  }
}

uint32_t BlockIndex::BuildPart(uint64_t base, uint32_t first_block, uint32_t* part_number) {
  const uint64_t end = base + kPartSize;
  uint64_t from = std::max(extents_[first_block].start, base);
  const uint64_t from_row = from >> kRowShift;
  // Bits are set as if there could be some, until it is known. There are no more rows then.
  const size_t most_rows = (count_ - first_block) * 3 / 2 + 2;
  rows_.Reserve(rows_count_ + most_rows);
  Row* const rows = rows_.data() + rows_count_;
  size_t touched = 0;
  uint32_t last = first_block;  // one behind
  bool aligned = true;
  for (; last < count_ && extents_[last].start < end; ++last) {
    const AddressRange extent = extents_[last];
    if (extent.size() >= kLarge && extent.start >= base) large_.push_back(last);
    if (extent.start % 16 != 0 || extent.size() == 0) aligned = false;
    const uint64_t row = (extent.start >> kRowShift) - from_row;
    if (!aligned || row >= most_rows) continue;  // one that reaches in from before has none, too
    rows[row].starts |= uint64_t{1} << (extent.start >> 4 & 63);
    touched = row + 1;
  }
  const uint64_t to = std::min(extents_[last - 1].end, end);
  Part part;
  const uint64_t blocks = last - first_block;
  const bool close_together = to > from && (to - from) >> kRowShift <= blocks * 3 / 2;
  const bool has_bits = aligned && close_together;
  if (!has_bits) std::fill(rows, rows + touched, Row{});
  if (to <= from) return last;
  if (has_bits) {
    from = from_row << kRowShift;
    part.shift = kRowShift;
  } else {
    while ((to - from - 1) >> part.shift >= blocks) ++part.shift;
  }
  part.first = static_cast<uint32_t>(from - base);
  part.size = static_cast<uint32_t>(to - from);
  part.row = rows_count_;
  *part_number = static_cast<uint32_t>(parts_.size());
  parts_.push_back(part);
  if (has_bits) {
    const size_t count = ((to - 1) >> kRowShift) - from_row + 1;
    CountBlocksOfRows(rows, count,
                      extents_[first_block].start < base ? first_block + 1 : first_block);
    rows_count_ += count;
  } else {
    AddBuckets(from, to, part.shift, first_block);
  }
  return last;
}

// Sets how many blocks begin before each of the rows. `block` is the first that begins there.
void BlockIndex::CountBlocksOfRows(Row* rows, size_t count, uint32_t block) {
  for (size_t i = 0; i < count; ++i) {
    rows[i].block = block;
    block += Bits(rows[i].starts);
  }
}

void BlockIndex::AddBuckets(uint64_t from, uint64_t to, uint32_t shift, uint32_t block) {
  for (uint64_t at = from; at < to; at += uint64_t{1} << shift) {
    while (extents_[block].end <= at) ++block;
    const bool reached = extents_[block].start < at + (uint64_t{1} << shift);
    rows_[rows_count_++] = {0, reached ? block : kNoBlock, 1};
  }
}

uint32_t BlockIndex::FirstEndingAfter(uint64_t address) const {
  const auto it = std::upper_bound(extents_.data(), extents_.data() + count_, address,
                                   [](uint64_t a, const AddressRange& r) { return a < r.end; });
  return static_cast<uint32_t>(it - extents_.data());
}

uint32_t BlockIndex::Search(uint32_t block, uint64_t address) const {
  const auto it = std::upper_bound(extents_.data() + block, extents_.data() + count_, address,
                                   [](uint64_t a, const AddressRange& r) { return a < r.end; });
  if (it == extents_.data() + count_ || address < it->start) return kNoBlock;
  return static_cast<uint32_t>(it - extents_.data());
}

}  // namespace heapgauge::leaks
