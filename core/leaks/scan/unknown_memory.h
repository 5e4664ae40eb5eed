// Memory of the heap that no known block holds, where not all blocks are known: which words of it
// were reached, and which of these were looked at.
//
// Where the blocks in it begin and end is not known. So a pointer to it reaches the 4 KiB from
// there (and from the start of the 16 bytes that it points into) up to the next known block or the
// end of the heap's range: enough for nearly every block, and a mistake errs to the side of
// "reachable".
//
// Two bits for each word, only for pages that are reached in part; 4 bytes for each other page of a
// MiB that is reached at all. Owned by one thread.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/address_range.h"
#include "core/leaks/scan/block_index.h"

namespace heapgauge::leaks {

class UnknownMemory {
 public:
  static constexpr uint64_t kReach = 4096;
  static constexpr uint64_t kPageBytes = 4096;
  static constexpr uint64_t kRegionPages = 256;
  static constexpr uint64_t kRegionBytes = kRegionPages * kPageBytes;
  static constexpr uint32_t kPageWords = kPageBytes / 8;
  using PageBits = std::array<uint64_t, kPageWords / 64>;

  // `blocks` must outlive it. REQUIRES: `heap` by address, merged.
  UnknownMemory(const BlockIndex& blocks, const std::vector<AddressRange>& heap);

  const BlockIndex& heap() const { return heap_; }
  bool Holds(uint64_t address) const { return heap_.Find(address) != kNoBlock; }
  // REQUIRES: Holds(address), and no known block does.
  void Reach(uint64_t address);

  // Regions (MiBs, by number) with words that were reached and not looked at; new ones come up
  // while these are.
  std::vector<uint64_t> TakeRegions();
  // Of a region: the pages with such words, as bits.
  const std::array<uint64_t, 4>& pending_pages(uint64_t region);
  // Of a page, by its number: such words, which count as looked at from now on.
  PageBits TakeWords(uint64_t page);

  // Of a page: words that were never reached, of no known block, in the heap. Pages may be asked
  // for in ascending order only.
  PageBits UnreachedWords(uint64_t page);
  bool IsDone(uint64_t page) const;  // it has none for certain

 private:
  // Of a word, reached and done: neither: not reached; only reached: to be looked at; both: was
  // looked at; only done: not our memory.
  struct Page {
    PageBits reached{};
    PageBits done{};
  };
  static constexpr uint32_t kNoPage = 0;
  static constexpr uint32_t kDonePage = UINT32_MAX;  // all words were looked at
  struct Region {
    std::array<uint32_t, kRegionPages> pages{};  // in pages_
    std::array<uint64_t, 4> pending{};
    bool queued = false;
  };
  struct Gib {
    std::array<std::unique_ptr<Region>, 1024> regions;
  };

  Region* Find(uint64_t region) const;
  Region* FindOrMake(uint64_t region);
  // Reaches words [from, to) up to the first that is not ours, or the others of them. True if there
  // was one that is not.
  bool ReachWords(uint64_t from, uint64_t to, bool stop);
  // Words that are not ours.
  PageBits ClosedWords(uint64_t page, uint32_t block, uint32_t range) const;
  uint32_t NewPage();

  const BlockIndex& blocks_;
  BlockIndex heap_;
  std::vector<std::unique_ptr<Gib>> gibs_;
  std::vector<Page> pages_{{}};
  std::vector<uint32_t> free_pages_;
  std::vector<uint64_t> queue_;
  uint32_t next_block_ = 0;  // of UnreachedWords
  uint32_t next_range_ = 0;
};

// Calls run(first, count) for each run of set bits.
template <typename Run>
void ForEachRun(const UnknownMemory::PageBits& bits, Run&& run) {
  static constexpr uint32_t kEnd = UnknownMemory::kPageWords;
  const auto next = [&bits](uint32_t at, bool value) {
    while (at < kEnd) {
      uint64_t chunk = value ? bits[at / 64] : ~bits[at / 64];
      chunk >>= at % 64;
      if (chunk != 0) return at + static_cast<uint32_t>(std::countr_zero(chunk));
      at = (at / 64 + 1) * 64;
    }
    return kEnd;
  };
  for (uint32_t at = next(0, true); at < kEnd;) {
    const uint32_t end = next(at, false);
    run(at, end - at);
    at = next(end, true);
  }
}

}  // namespace heapgauge::leaks
