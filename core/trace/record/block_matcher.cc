#include "core/trace/record/block_matcher.h"

#include <algorithm>

namespace heapgauge::trace {

template <typename Wanted>
std::optional<MergedEvent> EarlyBirths::TakeFirst(const Wanted& wanted) {
  const auto found = std::find_if(births_.begin(), births_.end(), wanted);
  if (found == births_.end()) return std::nullopt;
  const MergedEvent birth = *found;
  births_.erase(found);
  return birth;
}

std::optional<MergedEvent> EarlyBirths::Add(const MergedEvent& birth) {
  std::optional<MergedEvent> oldest;
  if (births_.size() >= kMost) oldest = TakeFirst([](const MergedEvent&) { return true; });
  births_.push_back(birth);
  return oldest;
}

std::optional<MergedEvent> EarlyBirths::TakeAt(uint64_t address) {
  return TakeFirst([&](const MergedEvent& birth) { return birth.address() == address; });
}

std::optional<MergedEvent> EarlyBirths::TakeOwn(const MergedEvent& event) {
  return TakeFirst([&](const MergedEvent& birth) {
    return birth.address() == event.address() && birth.thread == event.thread;
  });
}

std::optional<MergedEvent> EarlyBirths::TakeExpired(uint64_t now_ns) {
  return TakeFirst([&](const MergedEvent& birth) {
    return now_ns >= birth.time && now_ns - birth.time > kMostEarlyNs;
  });
}

namespace {

using wire::TraceEventKind;

constexpr size_t kMostNested = 16;
// Readers of buffers name fewer; events of others are left out.
constexpr uint32_t kMostThreads = 1 << 24;
// So many blocks and their index stay in the processor's cache by themselves.
constexpr size_t kBlocksInCache = 8192;
// After so many batches there may be more.
constexpr uint32_t kLookAgain = 64;

bool LooksUp(TraceEventKind kind) {
  return kind == TraceEventKind::kFree || kind == TraceEventKind::kResizeBegin;
}

}  // namespace

BlockMatcher::BlockMatcher(EventSink* sink, const EventQueue::Options& options)
    : index_(&pool_), queue_(&pool_, sink, options), sink_(sink) {}

[[gnu::flatten]] void BlockMatcher::Process(std::span<const MergedEvent> events) {
  counts_.events += events.size();
  if (!events.empty()) last_ns_ = events.back().time;
  while (!events.empty()) {
    const auto batch = events.first(std::min(events.size(), kBatch));
    if (!early_.empty()) [[unlikely]]
      GiveUpWaiting(batch.front().time);
    FindPlaces(batch);
    if (few_stacks_ == 0) {
      AskForStacks(batch);
    } else {
      --few_stacks_;
    }
    for (size_t i = 0; i < batch.size(); ++i) {
      if (index_.changes() != places_changes_) [[unlikely]]
        FindPlaces(batch);
      if (early_.empty()) [[likely]] {
        Handle(batch[i], places_[i]);
      } else {
        HandleBesideEarly(batch[i]);
      }
    }
    events = events.subspan(batch.size());
  }
}

// Looks all of them up before the first is handled, so that none waits for the memory of another:
// places, and the blocks that are there.
void BlockMatcher::FindPlaces(std::span<const MergedEvent> batch) {
  for (size_t i = 0; i < batch.size(); ++i) places_[i] = index_.Prefetch(batch[i].address());
  places_changes_ = index_.changes();
  if (pool_.size() < kBlocksInCache) return;
  for (size_t i = 0; i < batch.size(); ++i) index_.PrefetchBlock(places_[i]);
}

// Has what is kept of the batch's stacks on its way before it is needed.
void BlockMatcher::AskForStacks(std::span<const MergedEvent> batch) {
  uint32_t slots[kBatch];
  uint32_t stacks[kBatch];
  size_t dying = 0;
  size_t named = 0;
  for (size_t i = 0; i < batch.size(); ++i) {
    const MergedEvent& event = batch[i];
    if (LooksUp(event.kind())) {
      const uint32_t slot = AddressIndex::SlotAt(places_[i]);
      slots[dying] = slot;
      dying += slot != kNoSlot ? 1 : 0;
    } else {
      stacks[named++] = event.stack;
    }
  }
  for (size_t i = 0; i < dying; ++i) stacks[named++] = pool_[slots[i]].stack;
  if (!sink_->Expect({stacks, named})) few_stacks_ = kLookAgain;
}

// Nullptr if there can be no such thread.
BlockMatcher::ThreadState* BlockMatcher::StateOf(uint32_t thread) {
  if (thread >= kMostThreads) return nullptr;
  if (thread >= threads_.size()) {
    threads_.resize(std::max<size_t>(thread + 1, 2 * threads_.size()));
  }
  return &threads_[thread];
}

void BlockMatcher::Handle(const MergedEvent& event, const Place& place) {
  if (event.thread != last_thread_ || last_state_ == nullptr) {
    last_thread_ = event.thread;
    last_state_ = StateOf(event.thread);
    if (last_state_ == nullptr) return;
  }
  ThreadState* const thread = last_state_;
  switch (event.kind()) {
    case TraceEventKind::kAllocate:
      if (AddressIndex::SlotAt(place) != kNoSlot) [[unlikely]]
        return Postpone(event);
      Allocate(event, place, thread, kNoSlot);
      break;
    case TraceEventKind::kFree:
      Free(event, place, *thread);
      break;
    case TraceEventKind::kResizeBegin:
      ResizeBegin(event, place, thread);
      break;
    case TraceEventKind::kResizeEnd:
      Allocate(event, place, thread, TakeResized(event.thread, thread));
      break;
    default:
      HandleSeldom(event, thread);
  }
}

void BlockMatcher::HandleSeldom(const MergedEvent& event, ThreadState* thread) {
  switch (event.kind()) {
    case TraceEventKind::kResizeFailed:
      ResizeFailed(event, thread);
      break;
    case TraceEventKind::kMap:
      Map(event, *thread);
      break;
    case TraceEventKind::kUnmap:
      Unmap(event, *thread);
      break;
    default:
      break;
  }
}

LiveBlock* BlockMatcher::NewBlock(const MergedEvent& event, const ThreadState& thread,
                                  uint64_t address, uint64_t size, uint32_t* slot) {
  LiveBlock* made = nullptr;
  *slot = pool_.Take(&made);
  if (*slot == kNoSlot) return nullptr;
  LiveBlock& block = *made;
  block.address = address;
  block.birth_ns = event.time;
  block.size = size;
  block.thread = event.thread;
  block.stack = event.stack;
  block.slack = event.slack;
  block.function = event.function;
  block.alignment_log2 = event.alignment_log2;
  block.is_mapping = false;
  block.counter = thread.allocations;
  return &block;
}

uint32_t BlockMatcher::DistanceOf(const LiveBlock& block, uint32_t thread,
                                  const ThreadState& state) {
  if (block.thread != thread) return kForeign;
  return std::min(state.allocations - block.counter, kForeign - 1);
}

void BlockMatcher::MissedFree(uint32_t slot, uint64_t time_ns) {
  ++counts_.missed_frees;
  queue_.Died(slot, {time_ns, kNoIndex, kForeign});
}

void BlockMatcher::Allocate(const MergedEvent& event, const Place& place, ThreadState* thread,
                            uint32_t old) {
  const uint32_t distance = old == kNoSlot ? 0 : DistanceOf(pool_[old], event.thread, *thread);
  ++thread->allocations;
  uint32_t slot = kNoSlot;
  LiveBlock* const block = NewBlock(event, *thread, event.address(), event.size, &slot);
  if (block == nullptr) [[unlikely]]
    return;
  const uint32_t there = index_.Put(place, event.address(), slot);
  if (there != kNoSlot) [[unlikely]]
    MissedFree(there, event.time);
  if (old == kNoSlot) {
    queue_.Born(slot, block);
  } else {
    queue_.Became(old, slot, event.thread, distance);
  }
}

void BlockMatcher::Free(const MergedEvent& event, const Place& place, const ThreadState& thread) {
  const uint32_t slot = index_.Remove(place, event.address());
  if (slot == kNoSlot) [[unlikely]] {
    if (event.address() != 0) ++counts_.unknown_frees;
    return;
  }
  LiveBlock* const block = &pool_[slot];
  const uint32_t distance = DistanceOf(*block, event.thread, thread);
  queue_.Died(slot, block, {event.time, event.thread, distance});
}

void BlockMatcher::Postpone(const MergedEvent& birth) {
  if (const auto oldest = early_.Add(birth)) BearLate(*oldest, birth.time);
}

void BlockMatcher::HandleBesideEarly(const MergedEvent& event) {
  // What the same thread did before did not wait for this.
  while (const auto own = early_.TakeOwn(event)) BearLate(*own, event.time);
  Handle(event, index_.Prefetch(event.address()));
  if (index_.Find(event.address()) != kNoSlot) return;
  if (const auto birth = early_.TakeAt(event.address())) BearLate(*birth, event.time);
}

void BlockMatcher::GiveUpWaiting(uint64_t now_ns) {
  while (const auto birth = early_.TakeExpired(now_ns)) BearLate(*birth, now_ns);
}

void BlockMatcher::Settle() {
  while (const auto birth = early_.TakeExpired(UINT64_MAX)) BearLate(*birth, last_ns_);
}

// It waits no more, whether there is room for it by now or not. What came since has been written.
void BlockMatcher::BearLate(const MergedEvent& birth, uint64_t now_ns) {
  MergedEvent event = birth;
  event.time = now_ns;
  Allocate(event, index_.Prefetch(event.address()), &threads_[event.thread], kNoSlot);
}

// From here on the address may be handed out to another thread, so it leaves the index.
void BlockMatcher::ResizeBegin(const MergedEvent& event, const Place& place, ThreadState* thread) {
  if (thread->resizing != kNoSlot) [[unlikely]]
    BeginNested(event, thread->resizing);
  thread->resizing = index_.Remove(place, event.address());
  if (thread->resizing == kNoSlot && event.address() != 0) ++counts_.unknown_frees;
}

uint32_t BlockMatcher::TakeResized(uint32_t thread, ThreadState* state) {
  const uint32_t slot = state->resizing;
  state->resizing = nested_.empty() ? kNoSlot : EndNested(thread);
  return slot;
}

void BlockMatcher::BeginNested(const MergedEvent& event, uint32_t outer) {
  std::vector<uint32_t>& list = nested_[event.thread];
  list.push_back(outer);
  if (list.size() < kMostNested) return;
  MissedFree(list.front(), event.time);
  list.erase(list.begin());
}

uint32_t BlockMatcher::EndNested(uint32_t thread) {
  const auto it = nested_.find(thread);
  if (it == nested_.end()) return kNoSlot;
  const uint32_t slot = it->second.back();
  it->second.pop_back();
  if (it->second.empty()) nested_.erase(it);
  return slot;
}

void BlockMatcher::ResizeFailed(const MergedEvent& event, ThreadState* thread) {
  const uint32_t slot = TakeResized(event.thread, thread);
  if (slot == kNoSlot) return;
  const uint64_t address = pool_[slot].address;
  const uint32_t there = index_.Put(address, slot);
  if (there != kNoSlot) MissedFree(there, event.time);
}

void BlockMatcher::CutOut(const MergedEvent& event, const ThreadState& thread, uint64_t start,
                          uint64_t end) {
  for (const MappingTable::Cut& cut : mappings_.Remove(start, end)) {
    const LiveBlock before = pool_[cut.slot];
    const uint32_t distance = DistanceOf(before, event.thread, thread);
    const auto remainder = [&](uint64_t from, uint64_t to) {
      uint32_t slot = kNoSlot;
      LiveBlock* const made = NewBlock(event, thread, from, to - from, &slot);
      if (made == nullptr) return slot;
      LiveBlock& block = *made;
      block.is_mapping = true;
      block.stack = before.stack;
      block.thread = before.thread;
      block.counter = before.counter;
      block.slack = 0;
      block.function = before.function;
      block.alignment_log2 = before.alignment_log2;
      mappings_.Insert(from, to, slot);
      return slot;
    };
    const uint32_t left = cut.left_end > cut.start ? remainder(cut.start, cut.left_end) : kNoSlot;
    const uint32_t right =
        cut.end > cut.right_start ? remainder(cut.right_start, cut.end) : kNoSlot;
    if (left != kNoSlot && right != kNoSlot) {
      queue_.Split(cut.slot, left, right, event.thread, distance);
    } else if (left != kNoSlot || right != kNoSlot) {
      queue_.Became(cut.slot, left != kNoSlot ? left : right, event.thread, distance);
    } else {
      queue_.Died(cut.slot, {event.time, event.thread, distance});
    }
  }
}

void BlockMatcher::Map(const MergedEvent& event, const ThreadState& thread) {
  const uint64_t start = event.address();
  if (event.size == 0 || event.size > UINT64_MAX - start) return;
  CutOut(event, thread, start, start + event.size);  // MAP_FIXED takes away what is there
  uint32_t slot = kNoSlot;
  LiveBlock* const block = NewBlock(event, thread, start, event.size, &slot);
  if (block == nullptr) return;
  block->is_mapping = true;
  mappings_.Insert(start, start + event.size, slot);
  queue_.Born(slot, block);
}

void BlockMatcher::Unmap(const MergedEvent& event, const ThreadState& thread) {
  const uint64_t start = event.address();
  if (event.size == 0 || event.size > UINT64_MAX - start) return;
  CutOut(event, thread, start, start + event.size);
}

void BlockMatcher::Finish() {
  Settle();
  queue_.Finish();
}

void BlockMatcher::ForEachSurvivor(const std::function<void(const Block&)>& visit) const {
  std::vector<uint32_t> slots;
  slots.reserve(pool_.size());
  pool_.ForEach([&](uint32_t slot) { slots.push_back(slot); });
  std::sort(slots.begin(), slots.end(),
            [this](uint32_t a, uint32_t b) { return pool_[a].number < pool_[b].number; });
  for (const uint32_t slot : slots) visit(Block{pool_[slot]});
}

}  // namespace heapgauge::trace
