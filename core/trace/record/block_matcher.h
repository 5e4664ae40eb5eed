// From calls to blocks: finds for each free the allocation it ends, and holds back births that came
// too early.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/trace/record/address_index.h"
#include "core/trace/record/event_queue.h"
#include "core/trace/record/live_blocks.h"
#include "core/trace/record/merge.h"

namespace heapgauge::trace {

// Allocations that cannot be yet, because there still is a block at their address. A processor may
// read the clock for an allocation before it knows what another thread has done
// (wire/trace_buffer.h), so that it seems to be earlier than the free which made room for it. It
// waits here for that free, which comes soon; if none comes, that free was missed.
//
// One thread, bounded memory. There are none but for threads that hand memory over within less than
// a microsecond, and for programs whose calls were not all seen.
class EarlyBirths {
 public:
  // How early one can be: several times what a processor may do ahead.
  static constexpr uint64_t kMostEarlyNs = 10'000;
  static constexpr size_t kMost = 32;

  bool empty() const { return births_.empty(); }
  // The one that it takes the place of, if there are too many: that one waits no more.
  std::optional<MergedEvent> Add(const MergedEvent& birth);
  // The first one at this address.
  std::optional<MergedEvent> TakeAt(uint64_t address);
  // The first one that the same thread made at the address of this event, before it.
  std::optional<MergedEvent> TakeOwn(const MergedEvent& event);
  // The first one that has waited for too long at this time.
  std::optional<MergedEvent> TakeExpired(uint64_t now_ns);

 private:
  template <typename Wanted>
  std::optional<MergedEvent> TakeFirst(const Wanted& wanted);

  std::vector<MergedEvent> births_;  // in order of time
};

// From calls to blocks: finds for each free the allocation it ends, follows realloc, cuts mappings,
// and hands the result to an EventQueue.
//
// A block that cannot be: a free of an address that is not live is counted and dropped; an
// allocation at a live address waits a little for the free (EarlyBirths), and if that does not
// come it ends the block that was there, whose free was missed.
//
// One thread. Memory is that of the live blocks.
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
  // No free that an allocation could wait for is still to come.
  void Settle();
  // No more events: writes what is held back.
  void Finish();
  // After Finish: the blocks that are live, in order of their numbers.
  void ForEachSurvivor(const std::function<void(const Block&)>& visit) const;

  const Counts& counts() const { return counts_; }
  const EventQueue::Culled& culled() const { return queue_.culled(); }
  size_t bytes() const { return pool_.bytes() + index_.bytes(); }

 private:
  static constexpr uint32_t kNoSlot = BlockPool::kNoSlot;
  // Of one thread.
  struct ThreadState {
    uint32_t allocations = 0;     // wraps
    uint32_t resizing = kNoSlot;  // the block that realloc has been asked to change
  };
  using Place = AddressIndex::Place;
  void FindPlaces(std::span<const MergedEvent> batch);
  [[gnu::noinline]] void AskForStacks(std::span<const MergedEvent> batch);
  void Handle(const MergedEvent& event, const Place& place);
  [[gnu::noinline]] void HandleBesideEarly(const MergedEvent& event);
  ThreadState* StateOf(uint32_t thread);
  void Allocate(const MergedEvent& event, const Place& place, ThreadState* thread, uint32_t old);
  void Free(const MergedEvent& event, const Place& place, const ThreadState& thread);
  [[gnu::noinline]] void Postpone(const MergedEvent& birth);
  [[gnu::noinline]] void GiveUpWaiting(uint64_t now_ns);
  void BearLate(const MergedEvent& birth, uint64_t now_ns);
  void ResizeBegin(const MergedEvent& event, const Place& place, ThreadState* thread);
  [[gnu::noinline]] void HandleSeldom(const MergedEvent& event, ThreadState* thread);
  void ResizeFailed(const MergedEvent& event, ThreadState* thread);
  void Map(const MergedEvent& event, const ThreadState& thread);
  void Unmap(const MergedEvent& event, const ThreadState& thread);
  void CutOut(const MergedEvent& event, const ThreadState& thread, uint64_t start, uint64_t end);
  LiveBlock* NewBlock(const MergedEvent& event, const ThreadState& thread, uint64_t address,
                      uint64_t size, uint32_t* slot);
  [[gnu::noinline]] void MissedFree(uint32_t slot, uint64_t time_ns);
  static uint32_t DistanceOf(const LiveBlock& block, uint32_t thread, const ThreadState& state);
  uint32_t TakeResized(uint32_t thread, ThreadState* state);
  [[gnu::noinline]] void BeginNested(const MergedEvent& event, uint32_t outer);
  [[gnu::noinline]] uint32_t EndNested(uint32_t thread);

  BlockPool pool_;
  AddressIndex index_;
  // Of the batch: where the address of each event is kept, as of index_.changes().
  static constexpr size_t kBatch = 64;
  std::array<Place, kBatch> places_;
  uint64_t places_changes_ = 0;
  MappingTable mappings_;
  EarlyBirths early_;
  uint64_t last_ns_ = 0;  // of the last event
  EventQueue queue_;
  EventSink* sink_;
  uint32_t few_stacks_ = 0;  // batches for which stacks need not be asked for
  std::vector<ThreadState> threads_;
  uint32_t last_thread_ = 0;
  ThreadState* last_state_ = nullptr;  // of that one, if it was looked up
  // What realloc was asked to change before it was asked again, by thread, the last one behind.
  // There seldom is any: a signal handler within realloc, or a longjmp out of it.
  std::unordered_map<uint32_t, std::vector<uint32_t>> nested_;
  Counts counts_;
};

}  // namespace heapgauge::trace
