// Which blocks point to which: 8 bytes for each pointer, in the order of the blocks that hold them.
// A leak check keeps the pointers of blocks of which it does not yet know whether they are reached,
// so that memory need not be read again.
//
// Written front to back, then read. Owned by one thread.
#ifndef HEAPGAUGE_CORE_LEAKS_EDGE_LIST_H_
#define HEAPGAUGE_CORE_LEAKS_EDGE_LIST_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/leaks/heuristics.h"

namespace heapgauge::leaks {

class EdgeList {
 public:
  explicit EdgeList(size_t blocks) { first_.resize(blocks + 1); }

  // Edges of `block` are added from now on. REQUIRES: greater than the one before.
  void Begin(uint32_t block) {
    for (; next_ <= block; ++next_) first_[next_] = edges_.size();
    high_ = 0;
  }
  // The block that was begun points to another with its word of this number (from its first aligned
  // one). REQUIRES: in the order of words.
  void Add(uint64_t word, uint32_t to, Place place) {
    while (word >> kWordBits != high_) {  // every 4 GiB of one block
      edges_.push_back({kNoBlock, 0});
      ++high_;
    }
    edges_.push_back({to, static_cast<uint32_t>(word & ((1u << kWordBits) - 1)) |
                              static_cast<uint32_t>(place) << kWordBits});
  }
  // Call after the last one.
  void Finish() {
    for (; next_ < first_.size(); ++next_) first_[next_] = edges_.size();
  }

  // Calls edge(word, to, place) for each of a block that is complete: another was begun after it.
  template <typename Edge>
  void ForEach(uint32_t block, Edge&& edge) const {
    uint64_t high = 0;
    for (size_t i = first_[block]; i < first_[block + 1]; ++i) {
      const Entry& entry = edges_[i];
      if (entry.to == kNoBlock) {
        ++high;
        continue;
      }
      edge((high << kWordBits) | (entry.word & ((1u << kWordBits) - 1)), entry.to,
           static_cast<Place>(entry.word >> kWordBits));
    }
  }
  void Prefetch(uint32_t block) const { __builtin_prefetch(&first_[block]); }
  void PrefetchEdges(uint32_t block) const { __builtin_prefetch(edges_.data() + first_[block]); }

  size_t size() const { return edges_.size(); }

 private:
  static constexpr int kWordBits = 29;
  struct Entry {
    uint32_t to;    // kNoBlock: words of later entries are 2^29 higher
    uint32_t word;  // and the place, in the upper three bits
  };
  std::vector<uint64_t> first_;  // of each block, in edges_; one more at the end
  std::vector<Entry> edges_;
  size_t next_ = 0;
  uint64_t high_ = 0;
};

}  // namespace heapgauge::leaks

#endif  // HEAPGAUGE_CORE_LEAKS_EDGE_LIST_H_
