// Which blocks point to which, and the groups that lost blocks make by that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "core/base/large_memory.h"
#include "core/leaks/scan/block_bits.h"
#include "core/leaks/scan/check.h"
#include "core/leaks/scan/heuristics.h"
#include "core/leaks/scan/known_blocks.h"

namespace heapgauge::leaks {

// Which blocks point to which: 8 bytes for each pointer, in the order of the blocks that hold them,
// and 4 for each block. A leak check keeps the pointers of blocks, so that memory need not be read
// again when a block is found to be reached.
//
// Written front to back; what is there can be read meanwhile. Owned by one thread. Throws
// std::bad_alloc at 4 billion entries.
class EdgeList {
 public:
  explicit EdgeList(size_t blocks) : first_(blocks), edges_(2 * blocks + kMost) {}

  // `from` points to `to`, with its word at `address`. REQUIRES: in the order of addresses.
  void Add(uint32_t from, uint64_t address, uint32_t to, Place place) {
    const uint64_t start = MakeRoom(address, address);
    *Room() = Edge(to, place).At((address - start) / 8);
    Commit(from, 1);
  }

  // The same for many at a time, without asking for each whether there is room: entries are written
  // to Room() and become edges by Commit().
  class Edge {
   public:
    Edge() = default;  // any
    Edge(uint32_t to, Place place)
        : bits_(to | static_cast<uint64_t>(place) << (32 + kPlaceShift)) {}
    // With its word there: in words, from what MakeRoom() returned.
    Edge At(uint64_t word) const { return Edge(bits_ + (word << 32)); }
    uint32_t to() const { return static_cast<uint32_t>(bits_); }
    Place place() const { return static_cast<Place>(bits_ >> (32 + kPlaceShift)); }
    uint64_t word() const { return bits_ >> 32 & ((uint64_t{1} << kWordBits) - 1); }

   private:
    friend EdgeList;
    static constexpr int kWordBits = 28;
    static constexpr int kPlaceShift = kWordBits + 1;
    // Whether it is the first one of a block.
    static constexpr uint64_t kBegins = uint64_t{1} << (32 + kWordBits);
    explicit Edge(uint64_t bits) : bits_(bits) {}
    uint64_t bits_;
  };
  static constexpr size_t kMost = 512;
  static constexpr uint64_t kNear = uint64_t{8} << Edge::kWordBits;
  // There is room for kMost of them, with words in [first, last]; where they count from. REQUIRES:
  // these are less than kNear from each other.
  uint64_t MakeRoom(uint64_t first, uint64_t last) {
    if (size_ + kMost > edges_.capacity()) Grow();
    if (segments_.empty() || last - segments_.back().start >= kNear) {
      segments_.push_back({size_, first});
    }
    return segments_.back().start;
  }
  Edge* Room() { return edges_.data() + size_; }
  // `count` were written, and are those of `from`. REQUIRES: count > 0.
  void Commit(uint32_t from, size_t count) {
    if (from != last_from_) {
      last_from_ = from;
      first_[from] = size_;
      Room()->bits_ |= Edge::kBegins;
    }
    size_ += static_cast<uint32_t>(count);
  }

  // Calls edge(address, to, place) for each of a block, as far as they are known.
  template <typename OnEdge>
  void ForEach(uint32_t block, OnEdge&& on_edge) const {
    uint32_t i = first_[block];
    if (i == 0) return;
    size_t segment = segments_.size() - 1;
    while (segments_[segment].first > i) --segment;
    uint64_t start = segments_[segment].start;
    uint32_t next = FirstBehind(segment);
    const Edge* const edges = edges_.data();
    const uint32_t size = size_;
    do {
      if (i == next) {  // a block of more than 2 GiB
        start = segments_[++segment].start;
        next = FirstBehind(segment);
      }
      const Edge edge = edges[i];
      on_edge(start + uint64_t{8} * edge.word(), edge.to(), edge.place());
      ++i;
    } while (i < size && (edges[i].bits_ & Edge::kBegins) == 0);
  }
  // First where the edges of a block are, then the edges.
  void Prefetch(uint32_t block) const { __builtin_prefetch(&first_[block]); }
  void PrefetchEdges(uint32_t block) const {
    const Edge* const first = &edges_[first_[block]];
    __builtin_prefetch(first);
    __builtin_prefetch(first + 3);  // mostly the last one
  }

 private:
  // Edges from `first` on count from this address.
  struct Segment {
    uint32_t first;
    uint64_t start;
  };
  uint32_t FirstBehind(size_t segment) const {
    return segment + 1 < segments_.size() ? segments_[segment + 1].first : UINT32_MAX;
  }
  __attribute__((noinline, cold)) void Grow() {
    if (size_ >= UINT32_MAX - kMost) throw std::bad_alloc();
    edges_.Reserve(edges_.capacity() * 2);
  }

  HugeArray<uint32_t> first_;  // of each block; 0: none
  HugeArray<Edge> edges_;      // from 1 on
  std::vector<Segment> segments_;
  uint32_t size_ = 1;
  uint32_t last_from_ = kNoBlock;
};

// Puts lost blocks into groups as memcheck does. Each block that is not yet in a group, in the
// order of addresses, leads one, and what it reaches among those that are in none joins it. A
// leader that a later one reaches joins that one's group with all its own. So groups never overlap,
// a leader is lost definitely, and the rest of a group indirectly; in a circle the first one leads.
//
// Pure function; linear in blocks and edges.
//
// The kind of blocks that are `lost` is kDefinite; those of them that are in the group of another
// become kIndirect. `edges` has at least all pointers of lost blocks to lost blocks.
void PutIntoCliques(const EdgeList& edges, const BlockBits& lost, std::vector<Verdict>* verdicts);

}  // namespace heapgauge::leaks
