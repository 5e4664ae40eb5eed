#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/base/arch.h"
#include "core/leaks/scan/block_bits.h"
#include "core/leaks/scan/block_index.h"
#include "core/leaks/scan/edge_list.h"
#include "core/leaks/scan/heuristics.h"
#include "core/leaks/scan/marks.h"
#include "core/leaks/scan/memory_image.h"
#include "core/leaks/scan/scan.h"

namespace heapgauge::leaks {

// Pointers of reached blocks on their way to what they lead to: some hundred are gathered, so that
// what is known of each target is in the cache when its turn comes. Writing there would wait, too.
//
// Owned by one thread. Holds 6 KiB.
class ReachSteps {
 public:
  // It must outlive this.
  explicit ReachSteps(Marks* marks) : marks_(*marks) {}

  // The word at `address` of `from`, which is reached, points to this place of `to`.
  void Add(uint64_t address, uint32_t from, uint32_t to, Place place) {
    marks_.Prefetch(to);
    steps_[size_] = {address, from, to, place};
    // What is known already is dropped, without a decision that a processor could guess wrongly.
    size_ += marks_.Matters(to);
    if (size_ == steps_.size()) Flush();
  }
  // All that was added has been reached afterwards.
  void Flush() {
    for (size_t i = 0; i < size_; ++i) {
      const Step& step = steps_[i];
      marks_.Reach(step.to, step.place, {step.address, step.from, false});
    }
    size_ = 0;
  }

 private:
  struct Step {
    uint64_t address;
    uint32_t from;
    uint32_t to;
    Place place;
  };

  Marks& marks_;
  std::array<Step, 256> steps_;
  size_t size_ = 0;
};

// Finds which blocks the words of other blocks point to. Those that a reached block points to are
// reached at once; what others point to is kept in a list of edges. This is done for every pointer
// of the heap, so it is done in steps over some hundred of them, each with few instructions and few
// decisions that a processor could guess wrongly. Pointers to blocks of which nothing more is to be
// known are dropped.
//
// Owned by one thread.
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

// The scan where every block is known. Blocks are read once, in the order of their addresses. What
// a block that is reached by then points to is reached at once. Pointers of others are kept, unless
// they lead to what is reached already, and now and then those of blocks that were reached
// meanwhile are followed. The rest is followed when its block is reached after all, or when lost
// blocks are grouped. Nothing is read in the order in which it is reached: that would be a system
// call for each block.

namespace {

// Follows pointers of reached blocks that were kept, and what they lead to. Every step of it waits
// for memory, so each is done for other blocks than the next one, whose memory is on its way.
void Follow(ScanState* state) {
  constexpr size_t kAhead = 24;
  Marks& marks = state->marks;
  const EdgeList& edges = state->edges;
  ReachSteps steps(&marks);
  size_t known = marks.to_follow_count();
  for (size_t i = 0; i < known; ++i) {
    if (i + 2 * kAhead < known) edges.Prefetch(marks.to_follow(i + 2 * kAhead));
    if (i + kAhead < known) edges.PrefetchEdges(marks.to_follow(i + kAhead));
    const uint32_t from = marks.to_follow(i);
    edges.ForEach(from, [&](uint64_t address, uint32_t to, Place place) {
      steps.Add(address, from, to, place);
    });
    if (i + 1 == known) steps.Flush();
    known = marks.to_follow_count();
  }
  marks.ForgetToFollow();
}

// What roots point to.
class RootSink {
 public:
  explicit RootSink(ScanState* state) : state_(*state) {}
  void Prefetch(const Pointer&, uint32_t block) { state_.marks.Prefetch(block); }
  void OnBlock(const Pointer& pointer, uint32_t block, Place place) {
    state_.marks.Reach(block, place, {pointer.address, pointer.source, false});
  }
  void OnOther(const Pointer&) {}
  void OnBatch() { TrimInteriors(&state_); }

 private:
  ScanState& state_;
};

// Goes through the pointers of all blocks.
class BlockScan {
 public:
  explicit BlockScan(ScanState* state)
      : state_(*state), pointers_(&state->index, &state->marks, &state->edges) {}

  void Add(WordSearch::Found found) {
    while (found.count != 0) {
      WordSearch::Found part = found;
      part.count = std::min(found.count, state_.follow_together - kept_);
      pointers_.Add(part);
      found.values += part.count;
      found.places += part.count;
      found.count -= part.count;
      kept_ += part.count;
      if (kept_ == state_.follow_together) FollowReached();
    }
  }
  // `count` words that were read from `address`.
  void AddWords(const uint64_t* words, size_t count, uint64_t address) {
    while (count != 0) {
      const size_t part = std::min(count, kWords);
      WordSearch::Found found;
      found.count = filter_(words, part, state_.index.low(), state_.index.span(), places_.data());
      for (size_t i = 0; i < found.count; ++i) values_[i] = words[places_[i]];
      found.values = values_.data();
      found.places = places_.data();
      found.base = address;
      Add(found);
      words += part;
      count -= part;
      address += part * 8;
    }
  }
  // All pointers are there.
  void Finish() { Follow(&state_); }

 private:
  static constexpr size_t kWords = 2048;

  void FollowReached() {
    kept_ = 0;
    Follow(&state_);
    TrimInteriors(&state_);
  }

  ScanState& state_;
  BlockPointers pointers_;
  size_t kept_ = 0;  // words since pointers were followed
  WordFilter filter_ = BestWordFilter();
  std::array<uint32_t, kWords + 4> places_;
  std::array<uint64_t, kWords> values_;
};

// Large blocks that are reached are read before all others: they are tables that lead to much of
// the rest, and they often lie behind it.
void ReadLargeBlocks(ScanState* state, BlockScan* blocks, BlockBits* was_read) {
  const BlockIndex& index = state->index;
  for (bool any = true; any;) {
    any = false;
    for (const uint32_t block : index.large()) {
      if (was_read->Has(block) || !state->marks.reached(block)) continue;
      was_read->Set(block);
      any = true;
      const AddressRange& extent = index.extent(block);
      state->reader.Read(extent.start, extent.end,
                         [&](uint64_t address, const uint64_t* words, size_t count) {
                           blocks->AddWords(words, count, address);
                           state->Tell();
                         });
    }
  }
}

// Has the memory searched where it is; false if that cannot be.
template <typename Wanted>
bool SearchBlocks(ScanState* state, Wanted&& wanted, BlockScan* blocks) {
  constexpr uint64_t kLeast = 1 << 20;  // less is read more quickly
  constexpr uint64_t kMost = 1 << 30;   // at a time
  if (!state->may_search) return false;
  std::vector<AddressRange> ranges;
  uint64_t bytes = 0;
  ForEachRunOfBlocks(state->index, wanted, [&](uint32_t, uint32_t, const AddressRange& range) {
    bytes += range.size();
    for (uint64_t at = range.start; at < range.end; at += kMost) {
      ranges.push_back({at, std::min(range.end, at + kMost)});
    }
  });
  if (bytes < kLeast) return false;
  const auto search =
      state->memory.Search(std::move(ranges), state->index.low(), state->index.span());
  if (search == nullptr) return false;
  WordSearch::Found found;
  uint64_t about = 0;
  while (search->Next(&found)) {
    blocks->Add(found);
    if (state->progress == nullptr || found.count == 0) continue;
    // How far it has come.
    const uint64_t address = found.base + uint64_t{8} * found.places[found.count - 1];
    const double share = static_cast<double>(state->index.FirstEndingAfter(address)) /
                         static_cast<double>(state->index.size());
    const auto now = static_cast<uint64_t>(static_cast<double>(bytes) * share);
    state->reader.Count(now - about, 0);
    about = now;
    state->Tell();
  }
  state->other_cpu_ns += search->cpu_ns();
  state->search_failed = search->failed();
  if (state->search_failed) return true;
  state->reader.Count(search->searched_bytes() - about, search->unreadable_bytes());
  return true;
}

}  // namespace

void ScanExact(ScanState* state) {
  const BlockIndex& index = state->index;
  BlockBits was_read(index.size());
  {
    RootSink sink(state);
    PointerFinder<RootSink> finder(&index, index.low(), index.span(), &sink, state->batch);
    ReadRoots(state, &finder);
  }
  {
    const auto scan = std::make_unique<BlockScan>(state);
    ReadLargeBlocks(state, scan.get(), &was_read);
    const auto wanted = [&](uint32_t block) { return !was_read.Has(block); };
    if (!SearchBlocks(state, wanted, scan.get())) {
      ReadRuns(
          index, &state->reader, wanted,
          [&](uint32_t, uint32_t, uint64_t address, const uint64_t* words, size_t count) {
            scan->AddWords(words, count, address);
          },
          [&] { state->Tell(); });
    }
    if (state->search_failed) return;
    scan->Finish();
  }
  while (JudgeInteriors(state)) Follow(state);

  std::vector<uint32_t> possible;
  state->marks.MarkInteriorsPossible(&possible);
  FinishLostBlocks(state, std::move(possible));
}

}  // namespace heapgauge::leaks
