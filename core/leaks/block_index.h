// Which block an address lies in. A leak check asks this for every word of memory that could be a
// pointer, millions of times, so the answer takes two reads of memory that can be asked for ahead:
// one of a table by address, one of the block.
//
// The table is cut into parts of one GiB of address space, and each part into as many buckets as it
// has blocks, so it takes 4 bytes for each block however far apart they lie; the blocks themselves
// take 16. Built once, then read-only and safe to share.
#ifndef HEAPGAUGE_CORE_LEAKS_BLOCK_INDEX_H_
#define HEAPGAUGE_CORE_LEAKS_BLOCK_INDEX_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/address_range.h"
#include "core/leaks/known_blocks.h"

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
  explicit BlockIndex(const std::vector<Block>& blocks);
  // The same for any ranges. REQUIRES: by address.
  explicit BlockIndex(std::vector<AddressRange> ranges);

  size_t size() const { return count_; }
  const AddressRange& extent(uint32_t block) const { return extents_[block]; }

  // No block has an address outside of [low, low + span).
  uint64_t low() const { return low_; }
  uint64_t span() const { return span_; }

  // The block that holds the address, or kNoBlock.
  uint32_t Find(uint64_t address) const {
    const uint32_t* bucket = Bucket(address);
    return bucket == nullptr ? kNoBlock : FindFrom(*bucket, address);
  }

  // Find in two steps, for callers that look up many: the bucket, which may be null, and the search
  // from the block that it names, which may be kNoBlock.
  const uint32_t* Bucket(uint64_t address) const {
    if (address - low_ >= span_) return nullptr;
    const Part& part = parts_[part_of_[(address >> kPartBits) - (low_ >> kPartBits)]];
    const uint64_t offset = (address & (kPartSize - 1)) - part.first;
    return offset < part.size ? &buckets_[part.bucket + (offset >> part.shift)] : nullptr;
  }
  uint32_t FindFrom(uint32_t block, uint64_t address) const {
    if (block == kNoBlock) return kNoBlock;
    for (uint32_t last = block + kSteps; block != last; ++block) {
      // The one behind the last block is at the end of all addresses.
      if (address < extents_[block].end) {
        return address >= extents_[block].start ? block : kNoBlock;
      }
    }
    return Search(block, address);
  }
  const AddressRange* Extent(uint32_t block) const { return &extents_[block]; }

  // The first block that ends after the address; size() if none does.
  uint32_t FirstEndingAfter(uint64_t address) const;

 private:
  static constexpr int kPartBits = 30;
  static constexpr uint64_t kPartSize = uint64_t{1} << kPartBits;
  static constexpr uint64_t kMaxAddress = uint64_t{1} << 47;  // no program has memory above
  static constexpr uint32_t kSteps = 8;
  struct Part {
    uint32_t first = 0;  // offset of its first byte in the GiB
    uint32_t size = 0;   // up to the end of its last block
    uint32_t shift = 0;  // of an offset, to the number of its bucket
    uint64_t bucket = 0;
  };

  void Build();
  void BuildPart(uint64_t base, uint32_t first_block, uint32_t* part_number);
  uint32_t Search(uint32_t block, uint64_t address) const;

  std::vector<AddressRange> extents_;  // and one behind the last
  size_t count_ = 0;
  uint64_t low_ = 0;
  uint64_t span_ = 0;
  std::vector<uint32_t> part_of_;  // by GiB; 0: none
  std::vector<Part> parts_{{}};    // the first one is empty
  // The first block that reaches into the bucket, or kNoBlock.
  std::vector<uint32_t> buckets_;
};

}  // namespace heapgauge::leaks

#endif  // HEAPGAUGE_CORE_LEAKS_BLOCK_INDEX_H_
