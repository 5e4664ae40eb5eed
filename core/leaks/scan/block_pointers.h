// Finds which blocks the words of other blocks point to. Those that a reached block points to are
// reached at once; what others point to is kept in a list of edges. This is done for every pointer
// of the heap, so it is done in steps over some hundred of them, each with few instructions and few
// decisions that a processor could guess wrongly. Pointers to blocks of which nothing more is to be
// known are dropped.
//
// Owned by one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/arch.h"
#include "core/leaks/scan/block_index.h"
#include "core/leaks/scan/edge_list.h"
#include "core/leaks/scan/marks.h"
#include "core/leaks/scan/memory_image.h"
#include "core/leaks/scan/reach_steps.h"

namespace heapgauge::leaks {

class BlockPointers {
 public:
  // All must outlive it.
  BlockPointers(const BlockIndex* index, Marks* marks, EdgeList* edges)
      : index_(*index),
        marks_(*marks),
        steps_(marks),
        edges_(*edges),
        has_popcount_(arch::HasBitCount()) {}

  // Words with values in the range of the index. REQUIRES: in the order of addresses; those of
  // blocks that are reached may come at any time.
  void Add(const WordSearch::Found& found);

 private:
  template <typename CountBits>
  void Resolve(const uint64_t* values, size_t count, EdgeList::Edge* edges) const;
  EdgeList::Edge ResolveOther(uint64_t value) const;
  template <typename CountBits>
  void AddSome(const uint64_t* values, const uint32_t* places, size_t count, uint64_t base);
  template <typename CountBits>
  void AddAll(const WordSearch::Found& found);
  void AddByHardware(const WordSearch::Found& found);

  const BlockIndex& index_;
  Marks& marks_;
  ReachSteps steps_;
  EdgeList& edges_;
  bool has_popcount_;
};

}  // namespace heapgauge::leaks
