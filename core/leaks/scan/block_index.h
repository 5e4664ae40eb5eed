// Which block an address lies in. A leak check asks this for every word of memory that could be a
// pointer, millions of times, so the answer should take one read of memory, from a table that is
// small and by address, so that it can be asked for ahead.
//
// The table is cut into parts of one GiB of address space. Where blocks lie close together and all
// begin with a multiple of 16, as those of most allocators do, a part has a bit for each 16 bytes
// that says whether a block begins there, and for each 64 of them the number of blocks before: a
// 64th of the heap. Other parts have as many buckets as blocks. Besides, blocks take 16 bytes each.
// Built once, then read-only and safe to share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/address_range.h"
#include "core/base/large_memory.h"
#include "core/leaks/scan/known_blocks.h"

namespace heapgauge::leaks {

// The aligned words that lie wholly in a block.
inline AddressRange WordsOf(const AddressRange& extent) {
  const uint64_t start = (extent.start + 7) & ~uint64_t{7};
  return {start, std::max(start, extent.end & ~uint64_t{7})};
}

class BlockIndex {
 public:
  // A block of no bytes gets one. Where two overlap against the rule, the first one is cut short.
  // REQUIRES: `blocks` by address.
  explicit BlockIndex(const std::vector<KnownBlock>& blocks);
  // The same for any ranges. REQUIRES: by address.
  explicit BlockIndex(const std::vector<AddressRange>& ranges);
  BlockIndex(const BlockIndex&) = delete;
  BlockIndex& operator=(const BlockIndex&) = delete;

  size_t size() const { return count_; }
  const AddressRange& extent(uint32_t block) const { return extents_[block]; }

  // Blocks of kLarge bytes or more, in order.
  static constexpr uint64_t kLarge = 64 << 10;
  const std::vector<uint32_t>& large() const { return large_; }

  // No block has an address outside of [low, low + span).
  uint64_t low() const { return low_; }
  uint64_t span() const { return span_; }

  // The block that holds the address, or kNoBlock.
  uint32_t Find(uint64_t address) const {
    const Guess guess = GuessFrom(RowOf(address), address, Bits);
    return guess.is_start ? guess.block : Check(guess.block, address);
  }

  // Find in three steps, for callers that look up many. First where to look, to be prefetched.
  struct Row {
    uint64_t starts = 0;     // bit n: a block begins 16 n bytes from the start
    uint32_t block = 0;      // how many begin before; of a bucket: the first that reaches into it
    uint32_t is_bucket = 0;  // then there are no bits
  };
  const Row* RowOf(uint64_t address) const {
    const uint64_t offset = address - main_.start;
    return offset < main_.size ? main_.rows + (offset >> kRowShift) : OtherRowOf(address);
  }
  // Then a block that it may be in, or one before that; kNoBlock: it is in none. If it is the start
  // of a block, the answer is known.
  struct Guess {
    uint32_t block = kNoBlock;
    bool is_start = false;
  };
  // `bits` counts the bits of a number.
  template <typename CountBits>
  __attribute__((always_inline)) static Guess GuessFrom(const Row* row, uint64_t address,
                                                        CountBits bits) {
    if (row->is_bucket != 0) return {row->block, false};
    const uint64_t up_to = UpTo(*row, address);
    return {row->block + bits(up_to) - 1, (up_to >> 63) != 0 && address % 16 == 0};
  }
  // The block that holds the address, from there on, or kNoBlock.
  uint32_t Check(uint32_t block, uint64_t address) const {
    if (block == kNoBlock) return kNoBlock;
    for (uint32_t last = block + kSteps; block != last; ++block) {
      // The one behind the last block is at the end of all addresses.
      if (address < extents_[block].end) {
        return address >= extents_[block].start ? block : kNoBlock;
      }
    }
    return Search(block, address);
  }

  // The first block that ends after the address; size() if none does.
  uint32_t FirstEndingAfter(uint64_t address) const;

  // How many bits are set. What the processor's own instruction does, which not every one has.
  static uint32_t Bits(uint64_t word) {
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return static_cast<uint32_t>(word * 0x0101010101010101 >> 56);
  }

 private:
  struct MainParts {
    uint64_t start = 0;
    uint64_t size = 0;
    const Row* rows = nullptr;
  };
  // The bits of blocks that begin at the address or before.
  static uint64_t UpTo(const Row& row, uint64_t address) {
    return row.starts << (63 - (address >> 4 & 63));
  }

 public:
  // Most addresses that are asked for lie in one run of parts with bits, whose rows follow each
  // other. They are found without looking for their part, and with what it takes in registers.
  class MainRows {
   public:
    explicit MainRows(const BlockIndex& index) : index_(index), main_(index.main_) {}
    void Prefetch(uint64_t address) const {
      // Any address may be asked for: as a pointer it need not be one into the rows.
      const uint64_t row = (address - main_.start) >> kRowShift;
      __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(main_.rows) +
                                                       row * sizeof(Row)));
    }
    // Whether the address is the start of a block, and there; then which one. Others have to be
    // looked for.
    template <typename CountBits>
    __attribute__((always_inline)) bool StartsAt(uint64_t address, CountBits bits,
                                                 uint32_t* block) const {
      const uint64_t offset = address - main_.start;
      if (offset >= main_.size) return false;
      const Row& row = main_.rows[offset >> kRowShift];
      const uint64_t up_to = UpTo(row, address);
      if (up_to >> 63 == 0 || address % 16 != 0) return false;
      *block = row.block + bits(up_to) - 1;
      return true;
    }
    // Find() for any address.
    template <typename CountBits>
    __attribute__((always_inline)) uint32_t Find(uint64_t address, CountBits bits) const {
      const uint64_t offset = address - main_.start;
      if (offset >= main_.size) return index_.Find(address);
      const Row& row = main_.rows[offset >> kRowShift];
      const uint32_t block = row.block + bits(UpTo(row, address)) - 1;
      return block != kNoBlock && address < index_.extents_[block].end ? block : kNoBlock;
    }

   private:
    const BlockIndex& index_;
    const MainParts main_;
  };

 private:
  static constexpr int kPartBits = 30;
  static constexpr uint64_t kPartSize = uint64_t{1} << kPartBits;
  static constexpr uint64_t kMaxAddress = uint64_t{1} << 47;  // no program has memory above
  static constexpr uint32_t kSteps = 8;
  static constexpr uint32_t kRowShift = 10;  // 64 times 16 bytes
  struct Part {
    uint32_t first = 0;  // offset of its first byte in the GiB
    uint32_t size = 0;   // up to the end of its last block
    uint32_t shift = 0;  // of an offset, to the number of its row
    uint64_t row = 0;
  };

  template <typename Items, typename RangeOf>
  void SetExtents(const Items& items, RangeOf&& range_of);
  void Build();
  void FindMainParts();
  const Row* OtherRowOf(uint64_t address) const {
    if (address - low_ >= span_) return rows_.data();
    const Part& part = parts_[part_of_[(address >> kPartBits) - (low_ >> kPartBits)]];
    const uint64_t offset = (address & (kPartSize - 1)) - part.first;
    return &rows_[offset < part.size ? part.row + (offset >> part.shift) : 0];
  }
  // The first block behind it.
  uint32_t BuildPart(uint64_t base, uint32_t first_block, uint32_t* part_number);
  void CountBlocksOfRows(Row* rows, size_t count, uint32_t block);
  void AddBuckets(uint64_t from, uint64_t to, uint32_t shift, uint32_t block);
  uint32_t Search(uint32_t block, uint64_t address) const;

  HugeArray<AddressRange> extents_;  // and some behind the last
  size_t count_ = 0;
  std::vector<uint32_t> large_;
  uint64_t low_ = 0;
  uint64_t span_ = 0;
  std::vector<uint32_t> part_of_;  // by GiB; 0: none
  std::vector<Part> parts_{{}};    // the first one is empty
  HugeArray<Row> rows_;            // the first one is of no block
  size_t rows_count_ = 0;
  MainParts main_;
};

}  // namespace heapgauge::leaks
