#include "core/leaks/scan/block_pointers.h"

#include <algorithm>

namespace heapgauge::leaks {
namespace {

constexpr size_t kTogether = 256;
static_assert(kTogether <= EdgeList::kMost);

struct PlainBits {
  __attribute__((always_inline)) uint32_t operator()(uint64_t word) const {
    return BlockIndex::Bits(word);
  }
};
struct HardwareBits {
  // One instruction where the caller may use it.
  __attribute__((always_inline)) uint32_t operator()(uint64_t word) const {
    return static_cast<uint32_t>(__builtin_popcountll(word));
  }
};

}  // namespace

// A pointer that is not to the start of a block, or not to the main part of the heap.
__attribute__((noinline)) EdgeList::Edge BlockPointers::ResolveOther(uint64_t value) const {
  const uint32_t to = index_.Find(value);
  if (to == kNoBlock) return {marks_.none(), Place::kStart};
  return {to, PlaceOf(value - index_.extent(to).start)};
}

// Where each of them points to; what points to no block is said to point to marks_.none().
template <typename CountBits>
__attribute__((always_inline)) inline void BlockPointers::Resolve(const uint64_t* values,
                                                                  size_t count,
                                                                  EdgeList::Edge* edges) const {
  const BlockIndex::MainRows rows(index_);
  for (size_t i = 0; i < count; ++i) rows.Prefetch(values[i]);
  for (size_t i = 0; i < count; ++i) {
    uint32_t block = 0;
    if (rows.StartsAt(values[i], CountBits(), &block)) {
      edges[i] = {block, Place::kStart};
    } else {
      edges[i] = ResolveOther(values[i]);
    }
  }
}

// A part of what was found, of kTogether words at most.
template <typename CountBits>
__attribute__((always_inline)) inline void BlockPointers::AddSome(const uint64_t* values,
                                                                  const uint32_t* places,
                                                                  size_t count, uint64_t base) {
  EdgeList::Edge edges[kTogether];
  Resolve<CountBits>(values, count, edges);
  const uint64_t start =
      edges_.MakeRoom(base + uint64_t{8} * places[0], base + uint64_t{8} * places[count - 1]);
  const uint64_t before = (start - base) / 8;  // of the first word; it may lie before the base
  const BlockIndex::MainRows rows(index_);
  for (size_t i = 0; i < count;) {
    const uint64_t address = base + uint64_t{8} * places[i];
    const uint32_t holder = rows.Find(address, CountBits());
    if (holder == kNoBlock) {  // between two blocks
      ++i;
      continue;
    }
    // Words from here on are not, or not wholly, in it.
    const uint64_t end = (index_.extent(holder).end - base) / 8;
    if (places[i] >= end) {
      ++i;
      continue;
    }
    EdgeList::Edge* const room = edges_.Room();
    size_t kept = 0;
    do {
      room[kept] = edges[i].At(places[i] - before);
      kept += marks_.Matters(edges[i].to());
      ++i;
    } while (i < count && places[i] < end);
    if (kept == 0) continue;
    if (!marks_.reached(holder)) {
      edges_.Commit(holder, kept);
      marks_.FollowWhenReached(holder);
      continue;
    }
    for (size_t k = 0; k < kept; ++k) {
      const EdgeList::Edge edge = room[k];
      steps_.Add(start + uint64_t{8} * edge.word(), holder, edge.to(), edge.place());
    }
  }
  steps_.Flush();
}

template <typename CountBits>
__attribute__((always_inline)) inline void BlockPointers::AddAll(const WordSearch::Found& found) {
  for (size_t i = 0; i < found.count;) {
    size_t together = std::min(kTogether, found.count - i);
    const uint32_t* const places = found.places + i;
    while (uint64_t{8} * (places[together - 1] - places[0]) >= EdgeList::kNear) together /= 2;
    AddSome<CountBits>(found.values + i, places, together, found.base);
    i += together;
  }
}

HG_COUNTS_BITS void BlockPointers::AddByHardware(const WordSearch::Found& found) {
  AddAll<HardwareBits>(found);
}

void BlockPointers::Add(const WordSearch::Found& found) {
  if (has_popcount_) {
    AddByHardware(found);
  } else {
    AddAll<PlainBits>(found);
  }
}

}  // namespace heapgauge::leaks
