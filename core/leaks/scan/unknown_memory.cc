#include "core/leaks/scan/unknown_memory.h"

#include <algorithm>

namespace heapgauge::leaks {
namespace {

using PageBits = UnknownMemory::PageBits;
constexpr uint64_t kMaxAddress = uint64_t{1} << 47;
constexpr uint64_t kRegionsOfGib = 1024;

// Bits [from, to) of one of the eight numbers of a page.
uint64_t Mask(uint32_t from, uint32_t to) {
  const uint64_t upper = to == 64 ? ~uint64_t{0} : (uint64_t{1} << to) - 1;
  return upper & ~((uint64_t{1} << from) - 1);
}

void SetBits(uint32_t from, uint32_t to, PageBits* bits) {
  while (from < to) {
    const uint32_t end = std::min(to, (from / 64 + 1) * 64);
    (*bits)[from / 64] |= Mask(from % 64, end - from / 64 * 64);
    from = end;
  }
}

std::vector<AddressRange> Usable(const std::vector<AddressRange>& heap) {
  std::vector<AddressRange> usable;
  for (AddressRange range : heap) {
    range.end = std::min(range.end, kMaxAddress);
    if (range.start < range.end) usable.push_back(range);
  }
  return usable;
}

}  // namespace

UnknownMemory::UnknownMemory(const BlockIndex& blocks, const std::vector<AddressRange>& heap)
    : blocks_(blocks), heap_(Usable(heap)), gibs_(kMaxAddress >> 30) {}

UnknownMemory::Region* UnknownMemory::Find(uint64_t region) const {
  const Gib* gib = gibs_[region / kRegionsOfGib].get();
  return gib == nullptr ? nullptr : gib->regions[region % kRegionsOfGib].get();
}

UnknownMemory::Region* UnknownMemory::FindOrMake(uint64_t region) {
  std::unique_ptr<Gib>& gib = gibs_[region / kRegionsOfGib];
  if (gib == nullptr) gib = std::make_unique<Gib>();
  std::unique_ptr<Region>& found = gib->regions[region % kRegionsOfGib];
  if (found == nullptr) found = std::make_unique<Region>();
  return found.get();
}

uint32_t UnknownMemory::NewPage() {
  if (free_pages_.empty()) {
    pages_.emplace_back();
    return static_cast<uint32_t>(pages_.size() - 1);
  }
  const uint32_t page = free_pages_.back();
  free_pages_.pop_back();
  pages_[page] = {};
  return page;
}

PageBits UnknownMemory::ClosedWords(uint64_t page, uint32_t block, uint32_t range) const {
  const uint64_t start = page * kPageBytes;
  const uint64_t end = start + kPageBytes;
  const auto word = [start](uint64_t address) {
    return static_cast<uint32_t>((address - start) / 8);
  };
  PageBits closed{};
  uint64_t open = start;  // nothing from here on is known to be the heap's
  for (; range < heap_.size() && heap_.extent(range).start < end; ++range) {
    const uint64_t from = std::max((heap_.extent(range).start + 7) & ~uint64_t{7}, start);
    if (from > open) SetBits(word(open), word(std::min(from, end)), &closed);
    open = std::max(open, std::min(heap_.extent(range).end & ~uint64_t{7}, end));
  }
  if (open < end) SetBits(word(open), kPageWords, &closed);
  for (; block < blocks_.size() && blocks_.extent(block).start < end; ++block) {
    const AddressRange& extent = blocks_.extent(block);
    if (extent.size() == 0) continue;
    SetBits(word(std::max(extent.start, start)), word(std::min(extent.end, end) - 1) + 1, &closed);
  }
  return closed;
}

void UnknownMemory::Reach(uint64_t address) {
  const uint64_t own = address / 8;
  const uint64_t first = address / 16 * 2;
  if (first != own) ReachWords(first, own, false);
  ReachWords(own, own + 1, false);
  ReachWords(own + 1, std::min(address + kReach, kMaxAddress) / 8, true);
}

bool UnknownMemory::ReachWords(uint64_t from, uint64_t to, bool stop) {
  while (from < to) {
    const uint64_t page_number = from / kPageWords;
    const uint64_t page_end = std::min(to, (page_number + 1) * kPageWords);
    const uint64_t region_number = page_number / kRegionPages;
    Region* region = FindOrMake(region_number);
    uint32_t& slot = region->pages[page_number % kRegionPages];
    if (slot == kDonePage) {
      from = page_end;
      continue;
    }
    if (slot == kNoPage) {
      slot = NewPage();
      const uint64_t start = page_number * kPageBytes;
      pages_[slot].done =
          ClosedWords(page_number, blocks_.FirstEndingAfter(start), heap_.FirstEndingAfter(start));
    }
    Page& page = pages_[slot];
    bool any = false;
    bool closed = false;
    while (from < page_end && !closed) {
      const auto bit = static_cast<uint32_t>(from % 64);
      const auto end = static_cast<uint32_t>(std::min<uint64_t>(page_end - from + bit, 64));
      uint64_t mask = Mask(bit, end);
      uint64_t& reached = page.reached[from % kPageWords / 64];
      const uint64_t done = page.done[from % kPageWords / 64];
      const uint64_t not_ours = mask & done & ~reached;
      if (not_ours != 0 && stop) {
        mask &= (not_ours & -not_ours) - 1;
        closed = true;
      }
      const uint64_t fresh = mask & ~reached & ~done;
      reached |= fresh;
      any = any || fresh != 0;
      from += end - bit;
    }
    if (any) {
      region->pending[page_number % kRegionPages / 64] |= uint64_t{1} << (page_number % 64);
      if (!region->queued) {
        region->queued = true;
        queue_.push_back(region_number);
      }
    }
    if (closed) return true;
  }
  return false;
}

std::vector<uint64_t> UnknownMemory::TakeRegions() {
  std::vector<uint64_t> regions;
  regions.swap(queue_);
  std::sort(regions.begin(), regions.end());
  for (const uint64_t region : regions) Find(region)->queued = false;
  return regions;
}

const std::array<uint64_t, 4>& UnknownMemory::pending_pages(uint64_t region) {
  return Find(region)->pending;
}

PageBits UnknownMemory::TakeWords(uint64_t page_number) {
  Region* region = Find(page_number / kRegionPages);
  region->pending[page_number % kRegionPages / 64] &= ~(uint64_t{1} << (page_number % 64));
  uint32_t& slot = region->pages[page_number % kRegionPages];
  PageBits taken{};
  if (slot == kNoPage || slot == kDonePage) return taken;
  Page& page = pages_[slot];
  bool all = true;
  for (size_t i = 0; i < taken.size(); ++i) {
    taken[i] = page.reached[i] & ~page.done[i];
    page.done[i] |= taken[i];
    all = all && (page.reached[i] & page.done[i]) == ~uint64_t{0};
  }
  if (all) {
    free_pages_.push_back(slot);
    slot = kDonePage;
  }
  return taken;
}

bool UnknownMemory::IsDone(uint64_t page) const {
  const Region* region = Find(page / kRegionPages);
  return region != nullptr && region->pages[page % kRegionPages] == kDonePage;
}

PageBits UnknownMemory::UnreachedWords(uint64_t page) {
  PageBits unreached{};
  const Region* region = Find(page / kRegionPages);
  const uint32_t slot = region == nullptr ? kNoPage : region->pages[page % kRegionPages];
  if (slot == kDonePage) return unreached;
  if (slot != kNoPage) {
    for (size_t i = 0; i < unreached.size(); ++i) {
      unreached[i] = ~(pages_[slot].reached[i] | pages_[slot].done[i]);
    }
    return unreached;
  }
  const uint64_t start = page * kPageBytes;
  while (next_block_ < blocks_.size() && blocks_.extent(next_block_).end <= start) ++next_block_;
  while (next_range_ < heap_.size() && heap_.extent(next_range_).end <= start) ++next_range_;
  unreached = ClosedWords(page, next_block_, next_range_);
  for (uint64_t& bits : unreached) bits = ~bits;
  return unreached;
}

}  // namespace heapgauge::leaks
