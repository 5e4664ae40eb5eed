// From calls to blocks: finds for each free the allocation it ends, follows realloc, cuts mappings,
// and hands the result to an EventQueue.
//
// A block that cannot be: a free of an address that is not live is counted and dropped; an
// allocation at a live address ends the block that was there, whose free was missed.
//
// One thread. Memory is that of the live blocks.
#ifndef HEAPGAUGE_CORE_TRACE_RECORD_BLOCK_MATCHER_H_
#define HEAPGAUGE_CORE_TRACE_RECORD_BLOCK_MATCHER_H_

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/trace/record/event_queue.h"
#include "core/trace/record/live_blocks.h"
#include "core/trace/record/mapping_table.h"
#include "core/trace/record/merged_event.h"

namespace heapgauge::trace {

class BlockMatcher {
 public:
  struct Counts {
    uint64_t events = 0;  // that came in
    uint64_t unknown_frees = 0;
    uint64_t missed_frees = 0;
  };

  // The sink must outlive it.
  BlockMatcher(EventSink* sink, const EventQueue::Options& options);

  // The next events in order of time. Best some hundred at once: their look-ups overlap.
  void Process(std::span<const MergedEvent> events);
  // Nothing more happens before this moment.
  void Advance(uint64_t now_ns) { queue_.Advance(now_ns); }
  // No more events: writes what is held back.
  void Finish();
  // After Finish: the blocks that are live, in order of their numbers.
  void ForEachSurvivor(const std::function<void(const Block&)>& visit) const;

  const Counts& counts() const { return counts_; }
  const EventQueue::Totals& totals() const { return queue_.totals(); }
  size_t bytes() const { return pool_.bytes() + index_.bytes(); }

 private:
  static constexpr uint32_t kNoSlot = BlockPool::kNoSlot;
  void Handle(const MergedEvent& event, uint64_t hash);
  void Allocate(const MergedEvent& event, uint64_t hash, uint32_t old);
  void Free(const MergedEvent& event, uint64_t hash);
  void ResizeBegin(const MergedEvent& event, uint64_t hash);
  void ResizeFailed(const MergedEvent& event, uint64_t hash);
  void Map(const MergedEvent& event);
  void Unmap(const MergedEvent& event);
  void CutOut(const MergedEvent& event, uint64_t start, uint64_t end);
  uint32_t NewBlock(const MergedEvent& event, uint64_t address, uint64_t size);
  uint32_t DistanceOf(const LiveBlock& block, uint32_t thread) const;
  uint32_t TakeResized(uint32_t thread);

  BlockPool pool_;
  AddressIndex index_;
  MappingTable mappings_;
  EventQueue queue_;
  std::vector<uint32_t> allocations_;  // by thread; wraps
  // Blocks that realloc has been asked to change, by thread, the last one behind. Seldom more than
  // one: a signal handler within realloc, or a longjmp out of it.
  std::unordered_map<uint32_t, std::vector<uint32_t>> resizing_;
  Counts counts_;
};

}  // namespace heapgauge::trace

#endif  // HEAPGAUGE_CORE_TRACE_RECORD_BLOCK_MATCHER_H_
