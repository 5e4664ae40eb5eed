// Which blocks point to which: 8 bytes for each pointer and 8 for each block that holds one, in the
// order of the blocks that hold them.
// A leak check keeps the pointers of blocks, so that memory need not be read again when a block is
// found to be reached.
//
// Where the edges of a block are is kept in its verdict, which is at hand whenever they are needed:
// as Verdict::leader, until leaders are known. Who puts blocks into groups sets that right.
//
// Written front to back; what is complete can be read meanwhile. Owned by one thread. Throws
// std::bad_alloc at 4 billion entries.
#ifndef HEAPGAUGE_CORE_LEAKS_SCAN_EDGE_LIST_H_
#define HEAPGAUGE_CORE_LEAKS_SCAN_EDGE_LIST_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "core/base/huge_pages.h"
#include "core/leaks/scan/heuristics.h"
#include "core/leaks/verdict.h"

namespace heapgauge::leaks {

class EdgeList {
 public:
  // They must outlive it.
  explicit EdgeList(std::vector<Verdict>* verdicts) : verdicts_(*verdicts) {}

  // Edges of `block` are added from now on; its first aligned word is at `address`. REQUIRES:
  // greater than the block before.
  void Begin(uint32_t block, uint64_t address) {
    verdicts_[block].leader = size_;
    AddStart(address, kStartMark);
    start_ = address;
  }
  // The block that was begun points to another, with its word at `address`. REQUIRES: in the order
  // of addresses.
  void Add(uint64_t address, uint32_t to, Place place) {
    uint64_t word = (address - start_) / 8;
    while (word >> kWordBits != 0) {  // every 4 GiB of one block
      start_ += uint64_t{8} << kWordBits;
      AddStart(start_, kAgainMark);
      word -= uint64_t{1} << kWordBits;
    }
    Push({to, static_cast<uint32_t>(word) | static_cast<uint32_t>(place) << kWordBits});
  }

  // Where the edges of a block are.
  using First = uint32_t;
  First first(uint32_t block) const { return verdicts_[block].leader; }

  // Calls edge(address, to, place) for each of a block to which no more will be added.
  template <typename Edge>
  void ForEachFrom(First first, Edge&& edge) const {
    if (first == kNoBlock) return;
    uint64_t start = AddressOf(At(first));
    for (size_t i = size_t{first} + 1; i < size_; ++i) {
      const Entry entry = At(i);
      const uint32_t mark = entry.word >> kWordBits;
      if (mark >= kAgainMark) {
        if (mark == kStartMark) return;
        start = AddressOf(entry);
        continue;
      }
      edge(start + uint64_t{8} * (entry.word & kWordMask), entry.to, static_cast<Place>(mark));
    }
  }
  template <typename Edge>
  void ForEach(uint32_t block, Edge&& edge) const {
    ForEachFrom(first(block), edge);
  }
  // First where the edges of a block are, then the edges.
  void Prefetch(uint32_t block) const { __builtin_prefetch(&verdicts_[block]); }
  void PrefetchEdges(First first) const {
    if (first == kNoBlock) return;
    __builtin_prefetch(&At(first));
    if (first + 5 < size_) __builtin_prefetch(&At(first + 5));  // mostly the last one
  }

  size_t size() const { return size_; }

 private:
  static constexpr int kWordBits = 29;
  static constexpr uint32_t kWordMask = (1u << kWordBits) - 1;
  // These are no places.
  static constexpr uint32_t kStartMark = 7;  // a block begins
  static constexpr uint32_t kAgainMark = 6;  // it is so large that words are counted anew
  struct Entry {
    uint32_t to;
    uint32_t word;  // and the place, in the upper three bits
    // A mark there: the rest is an address, from which the words behind it count.
  };
  static constexpr size_t kChunk = 1 << 20;
  void Push(Entry entry) {
    if (size_ % kChunk == 0) AddChunk();
    last_[size_ % kChunk] = entry;
    ++size_;
  }
  void AddStart(uint64_t address, uint32_t mark) {
    Push({static_cast<uint32_t>(address),
          static_cast<uint32_t>(address >> 32 & kWordMask) | mark << kWordBits});
  }
  static uint64_t AddressOf(Entry entry) {
    return static_cast<uint64_t>(entry.word & kWordMask) << 32 | entry.to;
  }
  const Entry& At(size_t i) const { return chunks_[i / kChunk][i % kChunk]; }
  __attribute__((noinline, cold)) void AddChunk() {
    if (size_ >= kNoBlock - kChunk) throw std::bad_alloc();
    // Not cleared: what is never written takes no memory.
    chunks_.push_back(std::make_unique_for_overwrite<Entry[]>(kChunk));
    last_ = chunks_.back().get();
    PreferHugePages(last_, kChunk * sizeof(Entry));
  }

  std::vector<Verdict>& verdicts_;
  std::vector<std::unique_ptr<Entry[]>> chunks_;
  Entry* last_ = nullptr;  // of the chunks
  uint32_t size_ = 0;
  uint64_t start_ = 0;
};

}  // namespace heapgauge::leaks

#endif  // HEAPGAUGE_CORE_LEAKS_SCAN_EDGE_LIST_H_
