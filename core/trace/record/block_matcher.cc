#include "core/trace/record/block_matcher.h"

#include <algorithm>

namespace heapgauge::trace {
namespace {

using wire::TraceEventKind;

constexpr size_t kBatch = 64;
constexpr size_t kMostNested = 16;
// More threads than this share the last counter; a hostile file may name any number.
constexpr uint32_t kMostThreads = 1 << 24;

bool LooksUp(TraceEventKind kind) {
  return kind == TraceEventKind::kFree || kind == TraceEventKind::kResizeBegin;
}

}  // namespace

BlockMatcher::BlockMatcher(EventSink* sink, const EventQueue::Options& options)
    : index_(&pool_), queue_(&pool_, sink, options) {}

void BlockMatcher::Process(std::span<const MergedEvent> events) {
  uint64_t hashes[kBatch];
  while (!events.empty()) {
    const auto batch = events.first(std::min(events.size(), kBatch));
    for (size_t i = 0; i < batch.size(); ++i) {
      hashes[i] = AddressIndex::Hash(batch[i].address());
      index_.Prefetch(hashes[i]);
    }
    for (size_t i = 0; i < batch.size(); ++i) {
      if (LooksUp(batch[i].kind())) index_.PrefetchBlock(hashes[i]);
    }
    for (size_t i = 0; i < batch.size(); ++i) Handle(batch[i], hashes[i]);
    counts_.events += batch.size();
    events = events.subspan(batch.size());
  }
}

void BlockMatcher::Handle(const MergedEvent& event, uint64_t hash) {
  if (event.thread >= allocations_.size()) {
    if (event.thread >= kMostThreads) return;
    allocations_.resize(std::max<size_t>(event.thread + 1, 2 * allocations_.size()));
  }
  switch (event.kind()) {
    case TraceEventKind::kAllocate:
      Allocate(event, hash, kNoSlot);
      break;
    case TraceEventKind::kFree:
      Free(event, hash);
      break;
    case TraceEventKind::kResizeBegin:
      ResizeBegin(event, hash);
      break;
    case TraceEventKind::kResizeEnd:
      Allocate(event, hash, TakeResized(event.thread));
      break;
    case TraceEventKind::kResizeFailed:
      ResizeFailed(event, hash);
      break;
    case TraceEventKind::kMap:
      Map(event);
      break;
    case TraceEventKind::kUnmap:
      Unmap(event);
      break;
    case TraceEventKind::kNone:
      break;
  }
}

uint32_t BlockMatcher::NewBlock(const MergedEvent& event, uint64_t address, uint64_t size) {
  const uint32_t slot = pool_.Take();
  if (slot == kNoSlot) return slot;
  LiveBlock& block = pool_[slot];
  block.address = address;
  block.birth_ns = event.time;
  block.size = size;
  block.previous = kNoBlock;
  block.stack = event.stack;
  block.thread = event.thread;
  block.counter = allocations_[event.thread];
  block.slack = event.slack;
  block.function = event.function;
  block.alignment_log2 = event.alignment_log2;
  block.is_mapping = false;
  return slot;
}

uint32_t BlockMatcher::DistanceOf(const LiveBlock& block, uint32_t thread) const {
  if (block.thread != thread) return kForeign;
  return std::min(allocations_[thread] - block.counter, kForeign - 1);
}

void BlockMatcher::Allocate(const MergedEvent& event, uint64_t hash, uint32_t old) {
  const uint32_t distance = old == kNoSlot ? 0 : DistanceOf(pool_[old], event.thread);
  ++allocations_[event.thread];
  const uint32_t slot = NewBlock(event, event.address(), event.size);
  if (slot == kNoSlot) return;
  if (const uint32_t there = index_.Put(hash, slot); there != kNoSlot) {
    ++counts_.missed_frees;
    queue_.Died(there, event.time, kNoIndex, kForeign);
  }
  if (old == kNoSlot) {
    queue_.Advance(event.time);
    queue_.Born(slot);
  } else {
    queue_.Became(old, slot, event.thread, distance);
  }
}

void BlockMatcher::Free(const MergedEvent& event, uint64_t hash) {
  const uint32_t slot = index_.Remove(event.address(), hash);
  if (slot == kNoSlot) {
    if (event.address() != 0) ++counts_.unknown_frees;
    return;
  }
  queue_.Died(slot, event.time, event.thread, DistanceOf(pool_[slot], event.thread));
}

// From here on the address may be handed out to another thread, so it leaves the index.
void BlockMatcher::ResizeBegin(const MergedEvent& event, uint64_t hash) {
  std::vector<uint32_t>& list = resizing_[event.thread];
  if (list.size() >= kMostNested) {
    queue_.Died(list.front(), event.time, kNoIndex, kForeign);
    ++counts_.missed_frees;
    list.erase(list.begin());
  }
  const uint32_t slot = index_.Remove(event.address(), hash);
  if (slot == kNoSlot && event.address() != 0) ++counts_.unknown_frees;
  list.push_back(slot);
}

uint32_t BlockMatcher::TakeResized(uint32_t thread) {
  const auto it = resizing_.find(thread);
  if (it == resizing_.end() || it->second.empty()) return kNoSlot;
  const uint32_t slot = it->second.back();
  it->second.pop_back();
  return slot;
}

void BlockMatcher::ResizeFailed(const MergedEvent& event, uint64_t) {
  const uint32_t slot = TakeResized(event.thread);
  if (slot == kNoSlot) return;
  const uint64_t hash = AddressIndex::Hash(pool_[slot].address);
  if (const uint32_t there = index_.Put(hash, slot); there != kNoSlot) {
    ++counts_.missed_frees;
    queue_.Died(there, event.time, kNoIndex, kForeign);
  }
}

void BlockMatcher::CutOut(const MergedEvent& event, uint64_t start, uint64_t end) {
  for (const MappingTable::Cut& cut : mappings_.Remove(start, end)) {
    const LiveBlock before = pool_[cut.slot];
    const uint32_t distance = DistanceOf(before, event.thread);
    const auto remainder = [&](uint64_t from, uint64_t to) {
      const uint32_t slot = NewBlock(event, from, to - from);
      if (slot == kNoSlot) return slot;
      LiveBlock& block = pool_[slot];
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
    uint32_t left = cut.left_end > cut.start ? remainder(cut.start, cut.left_end) : kNoSlot;
    const uint32_t right =
        cut.end > cut.right_start ? remainder(cut.right_start, cut.end) : kNoSlot;
    if (left != kNoSlot && right != kNoSlot) queue_.BornOf(right, cut.slot);
    if (left == kNoSlot) left = right;
    if (left == kNoSlot) {
      queue_.Died(cut.slot, event.time, event.thread, distance);
    } else {
      queue_.Became(cut.slot, left, event.thread, distance);
    }
  }
}

void BlockMatcher::Map(const MergedEvent& event) {
  const uint64_t start = event.address();
  if (event.size == 0 || event.size > UINT64_MAX - start) return;
  CutOut(event, start, start + event.size);  // MAP_FIXED takes away what is there
  const uint32_t slot = NewBlock(event, start, event.size);
  if (slot == kNoSlot) return;
  pool_[slot].is_mapping = true;
  mappings_.Insert(start, start + event.size, slot);
  queue_.Advance(event.time);
  queue_.Born(slot);
}

void BlockMatcher::Unmap(const MergedEvent& event) {
  const uint64_t start = event.address();
  if (event.size == 0 || event.size > UINT64_MAX - start) return;
  CutOut(event, start, start + event.size);
}

void BlockMatcher::Finish() { queue_.Finish(); }

void BlockMatcher::ForEachSurvivor(const std::function<void(const Block&)>& visit) const {
  std::vector<uint32_t> slots;
  slots.reserve(pool_.size());
  pool_.ForEach([&](uint32_t slot) { slots.push_back(slot); });
  std::sort(slots.begin(), slots.end(),
            [this](uint32_t a, uint32_t b) { return pool_[a].number < pool_[b].number; });
  for (const uint32_t slot : slots) visit(Block{pool_[slot]});
}

}  // namespace heapgauge::trace
