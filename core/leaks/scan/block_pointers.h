// Finds which blocks the words of other blocks point to. Those that a reached block points to are
// reached at once; what others point to is kept in a list of edges. This is done for every pointer
// of the heap, so it is done in steps over some hundred of them, each a loop without decisions that
// a processor could guess wrongly, and with the next ones' memory on its way. Pointers to blocks of
// which nothing more is to be known are dropped.
//
// Owned by one thread. Holds some 20 KiB.
#ifndef HEAPGAUGE_CORE_LEAKS_SCAN_BLOCK_POINTERS_H_
#define HEAPGAUGE_CORE_LEAKS_SCAN_BLOCK_POINTERS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/arch.h"
#include "core/leaks/memory_image.h"
#include "core/leaks/scan/block_index.h"
#include "core/leaks/scan/edge_list.h"
#include "core/leaks/scan/marks.h"
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

  // Words with values in the range of the index. REQUIRES: in the order of addresses.
  void Add(const WordSearch::Found& found);

  // The blocks that have edges, in order. More may be added to the last one, the others are
  // complete.
  const std::vector<uint32_t>& sources() const { return sources_; }
  // All but the last one.
  void ForgetSources() {
    if (sources_.size() > 1) sources_.erase(sources_.begin(), sources_.end() - 1);
  }

 private:
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
  std::vector<uint32_t> sources_;
  uint32_t source_ = kNoBlock;  // the last one
  uint32_t holder_ = kNoBlock;  // of the last pointer, and its words
  AddressRange words_{};
};

}  // namespace heapgauge::leaks

#endif  // HEAPGAUGE_CORE_LEAKS_SCAN_BLOCK_POINTERS_H_
