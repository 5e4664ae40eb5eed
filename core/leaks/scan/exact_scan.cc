// The scan where every block is known. Blocks are read once, in the order of their addresses. What
// a block that is reached by then points to is reached at once. Pointers of others are kept, unless
// they lead to what is reached already, and now and then those of blocks that were reached
// meanwhile are followed. The rest is followed when its block is reached after all, or when lost
// blocks are grouped. Nothing is read in the order in which it is reached: that would be a system
// call for each block.
#include <algorithm>
#include <array>
#include <memory>

#include "core/leaks/scan/block_bits.h"
#include "core/leaks/scan/block_pointers.h"
#include "core/leaks/scan/reach_steps.h"
#include "core/leaks/scan/scan_parts.h"

namespace heapgauge::leaks {
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
