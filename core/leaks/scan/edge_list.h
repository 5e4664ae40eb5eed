// Which blocks point to which: 8 bytes for each pointer and 16 for each block, in the order of the
// blocks that hold them.
// A leak check keeps the pointers of blocks of which it does not yet know whether they are reached,
// so that memory need not be read again.
//
// Written front to back, then read. Owned by one thread.
#ifndef HEAPGAUGE_CORE_LEAKS_SCAN_EDGE_LIST_H_
#define HEAPGAUGE_CORE_LEAKS_SCAN_EDGE_LIST_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/huge_pages.h"
#include "core/leaks/scan/heuristics.h"

namespace heapgauge::leaks {

class EdgeList {
 public:
  explicit EdgeList(size_t blocks)
      : blocks_(blocks), first_(std::make_unique_for_overwrite<uint64_t[]>(blocks + 1)) {
    PreferHugePages(first_.get(), (blocks + 1) * sizeof(uint64_t));
  }

  // Edges of `block` are added from now on; its first aligned word is at `address`. REQUIRES:
  // greater than the block before.
  void Begin(uint32_t block, uint64_t address) {
    for (; next_ <= block; ++next_) first_[next_] = size_;
    start_ = address;
    block_ = block;
  }
  // The block that was begun points to another, with its word at `address`. REQUIRES: in the order
  // of addresses.
  void Add(uint64_t address, uint32_t to, Place place) {
    if (size_ == first_[block_]) AddStart(start_);
    uint64_t word = (address - start_) / 8;
    while (word >> kWordBits != 0) {  // every 4 GiB of one block
      start_ += uint64_t{8} << kWordBits;
      AddStart(start_);
      word -= uint64_t{1} << kWordBits;
    }
    Push({to, static_cast<uint32_t>(word) | static_cast<uint32_t>(place) << kWordBits});
  }
  // Call after the last one.
  void Finish() {
    for (; next_ <= blocks_; ++next_) first_[next_] = size_;
  }

  // Calls edge(address, to, place) for each of a block that is complete: another was begun after
  // it.
  template <typename Edge>
  void ForEach(uint32_t block, Edge&& edge) const {
    uint64_t start = 0;
    for (size_t i = first_[block]; i < first_[block + 1]; ++i) {
      const Entry& entry = At(i);
      const uint32_t word = entry.word & kWordMask;
      if (entry.word >> kWordBits == kStartMark) {
        start = static_cast<uint64_t>(word) << 32 | entry.to;
        continue;
      }
      edge(start + uint64_t{8} * word, entry.to, static_cast<Place>(entry.word >> kWordBits));
    }
  }
  // First where the edges of a block are, then the edges.
  void Prefetch(uint32_t block) const { __builtin_prefetch(&first_[block]); }
  void PrefetchEdges(uint32_t block) const {
    const size_t i = first_[block];
    if (i >= size_) return;
    __builtin_prefetch(&At(i));
    __builtin_prefetch(&At(i) + 4);  // mostly the last one
  }

  size_t size() const { return size_; }

 private:
  static constexpr int kWordBits = 29;
  static constexpr uint32_t kWordMask = (1u << kWordBits) - 1;
  static constexpr uint32_t kStartMark = 7;  // is no place
  struct Entry {
    uint32_t to;
    uint32_t word;  // and the place, in the upper three bits
    // kStartMark there: the rest is an address, from which the words behind it count.
  };
  static constexpr size_t kChunk = 1 << 20;
  void Push(Entry entry) {
    if (size_ % kChunk == 0) AddChunk();
    chunks_.back()[size_ % kChunk] = entry;
    ++size_;
  }
  void AddStart(uint64_t address) {
    Push({static_cast<uint32_t>(address),
          static_cast<uint32_t>(address >> 32 & kWordMask) | kStartMark << kWordBits});
  }
  const Entry& At(size_t i) const { return chunks_[i / kChunk][i % kChunk]; }
  __attribute__((noinline, cold)) void AddChunk() {
    // Not cleared: what is never written takes no memory.
    chunks_.push_back(std::make_unique_for_overwrite<Entry[]>(kChunk));
    PreferHugePages(chunks_.back().get(), kChunk * sizeof(Entry));
  }

  size_t blocks_;
  std::unique_ptr<uint64_t[]> first_;  // of each block, in edges; one more at the end
  std::vector<std::unique_ptr<Entry[]>> chunks_;
  size_t size_ = 0;
  size_t next_ = 0;
  uint32_t block_ = 0;
  uint64_t start_ = 0;
};

}  // namespace heapgauge::leaks

#endif  // HEAPGAUGE_CORE_LEAKS_SCAN_EDGE_LIST_H_
