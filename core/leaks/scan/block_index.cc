#include "core/leaks/scan/block_index.h"

#include <algorithm>

#include "core/base/huge_pages.h"

namespace heapgauge::leaks {

BlockIndex::BlockIndex(const std::vector<Block>& blocks) {
  ReserveHuge(blocks.size() + kSteps + 1, &extents_);
  for (const Block& block : blocks) {
    const uint64_t room = UINT64_MAX - block.address;
    const uint64_t size = std::min(std::max<uint64_t>(block.size, 1), room);
    Add({block.address, block.address + size});
  }
  Build();
}

BlockIndex::BlockIndex(const std::vector<AddressRange>& ranges) {
  ReserveHuge(ranges.size() + kSteps + 1, &extents_);
  for (const AddressRange& range : ranges) Add(range);
  Build();
}

void BlockIndex::Build() {
  count_ = extents_.size();
  // Addresses that no program can have are found nowhere.
  size_t usable = count_;
  while (usable > 0 && extents_[usable - 1].start >= kMaxAddress) --usable;
  extents_.resize(count_ + kSteps + 1, {UINT64_MAX, UINT64_MAX});
  if (usable == 0) return;
  low_ = extents_[0].start;
  const uint64_t high = std::min(extents_[usable - 1].end, kMaxAddress);
  span_ = high - low_;

  part_of_.assign((((high - 1) >> kPartBits) - (low_ >> kPartBits)) + 1, 0);
  ReserveHuge(usable / 2 + part_of_.size() + 1, &rows_);
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
  uint32_t last = first_block;  // one behind
  bool aligned = true;
  for (; last < count_ && extents_[last].start < end; ++last) {
    const AddressRange& extent = extents_[last];
    aligned = aligned && extent.start % 16 == 0 && extent.size() != 0;
    if (extent.size() >= kLarge && extent.start >= base) large_.push_back(last);
  }
  uint64_t from = std::max(extents_[first_block].start, base);
  const uint64_t to = std::min(extents_[last - 1].end, end);
  if (to <= from) return last;
  Part part;
  const uint64_t blocks = last - first_block;
  const bool close_together = (to - from) >> kRowShift <= blocks * 3 / 2;
  if (aligned && close_together) {
    from &= ~((uint64_t{1} << kRowShift) - 1);
    part.shift = kRowShift;
  } else {
    while ((to - from - 1) >> part.shift >= blocks) ++part.shift;
  }
  part.first = static_cast<uint32_t>(from - base);
  part.size = static_cast<uint32_t>(to - from);
  part.row = rows_.size();
  *part_number = static_cast<uint32_t>(parts_.size());
  parts_.push_back(part);
  if (aligned && close_together) {
    AddBitRows(from, to, first_block, last);
  } else {
    AddBuckets(from, to, part.shift, first_block);
  }
  return last;
}

void BlockIndex::AddBitRows(uint64_t from, uint64_t to, uint32_t block, uint32_t last) {
  if (extents_[block].start < from) ++block;  // it reaches in from the GiB before
  for (uint64_t at = from; at < to; at += uint64_t{1} << kRowShift) {
    Row row;
    row.block = block;
    for (; block < last && extents_[block].start >> kRowShift == at >> kRowShift; ++block) {
      row.starts |= uint64_t{1} << (extents_[block].start >> 4 & 63);
    }
    rows_.push_back(row);
  }
}

void BlockIndex::AddBuckets(uint64_t from, uint64_t to, uint32_t shift, uint32_t block) {
  for (uint64_t at = from; at < to; at += uint64_t{1} << shift) {
    while (extents_[block].end <= at) ++block;
    const bool reached = extents_[block].start < at + (uint64_t{1} << shift);
    rows_.push_back({0, reached ? block : kNoBlock, 1});
  }
}

uint32_t BlockIndex::FirstEndingAfter(uint64_t address) const {
  const auto it = std::upper_bound(extents_.begin(), extents_.begin() + count_, address,
                                   [](uint64_t a, const AddressRange& r) { return a < r.end; });
  return static_cast<uint32_t>(it - extents_.begin());
}

uint32_t BlockIndex::Search(uint32_t block, uint64_t address) const {
  const auto it = std::upper_bound(extents_.begin() + block, extents_.begin() + count_, address,
                                   [](uint64_t a, const AddressRange& r) { return a < r.end; });
  if (it == extents_.begin() + count_ || address < it->start) return kNoBlock;
  return static_cast<uint32_t>(it - extents_.begin());
}

}  // namespace heapgauge::leaks
