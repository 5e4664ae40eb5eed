// The scan where every block is known. Blocks are read once, in the order of their addresses. What
// a block points to is followed at once if the block is known to be reached by then. Otherwise its
// pointers are kept, and followed when it is reached after all, or when lost blocks are grouped.
// Nothing is read in the order in which it is reached: that would be a system call for each block.
#include <array>

#include "core/leaks/scan/block_bits.h"
#include "core/leaks/scan/scan_parts.h"

namespace heapgauge::leaks {
namespace {

constexpr uint64_t kLarge = 64 << 10;

// Follows pointers of reached blocks that were kept, and what they lead to. Every step of it waits
// for memory, so many blocks are followed side by side.
class EdgeFollower {
 public:
  explicit EdgeFollower(ScanState* state) : state_(*state) {}

  // Of the block that is incomplete not all edges are known; it is left for later.
  void Follow(uint32_t incomplete) {
    bool again = false;
    do {
      // Three groups are on their way: where their edges are, the edges, what they lead to.
      Group& newest = groups_[turn_ % 3];
      again = Take(incomplete, &newest) || again;
      Group& middle = groups_[(turn_ + 2) % 3];
      for (size_t i = 0; i < middle.size; ++i) state_.edges.PrefetchEdges(middle.blocks[i]);
      Group& oldest = groups_[(turn_ + 1) % 3];
      for (size_t i = 0; i < oldest.size; ++i) Gather(oldest.blocks[i]);
      oldest.size = 0;
      Flush();
      ++turn_;
    } while (!state_.marks.to_follow().empty() || groups_[0].size != 0 || groups_[1].size != 0 ||
             groups_[2].size != 0);
    if (again) state_.marks.to_follow().push_back(incomplete);
  }

 private:
  static constexpr size_t kBlocks = 64;
  static constexpr size_t kSteps = 256;
  struct Group {
    std::array<uint32_t, kBlocks> blocks;
    size_t size = 0;
  };
  struct Step {
    uint64_t address;
    uint32_t from;
    uint32_t to;
    Place place;
  };

  // Whether the incomplete one was among those that are to be followed.
  bool Take(uint32_t incomplete, Group* group) {
    std::vector<uint32_t>& to_follow = state_.marks.to_follow();
    bool found = false;
    while (group->size < kBlocks && !to_follow.empty()) {
      const uint32_t block = to_follow.back();
      to_follow.pop_back();
      if (block == incomplete) {
        found = true;
        continue;
      }
      state_.edges.Prefetch(block);
      group->blocks[group->size++] = block;
    }
    return found;
  }

  void Gather(uint32_t block) {
    state_.edges.ForEach(block, [&](uint64_t address, uint32_t to, Place place) {
      if (state_.marks.settled(to)) return;
      state_.marks.Prefetch(to);
      steps_[size_++] = {address, block, to, place};
      if (size_ == kSteps) Flush();
    });
  }
  void Flush() {
    for (size_t i = 0; i < size_; ++i) {
      const Step& step = steps_[i];
      state_.marks.Reach(step.to, step.place, {step.address, step.from, false});
    }
    size_ = 0;
  }

  ScanState& state_;
  std::array<Group, 3> groups_{};
  size_t turn_ = 0;
  std::array<Step, kSteps> steps_;
  size_t size_ = 0;
};

// What roots point to, and blocks that are reached.
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

// Large blocks that are reached are read before all others: they are tables that lead to much of
// the rest, and they often lie behind it.
void ReadLargeBlocks(ScanState* state, PointerFinder<RootSink>* finder, BlockBits* was_read) {
  const BlockIndex& index = state->index;
  std::vector<uint32_t> large;
  for (uint32_t block = 0; block < index.size(); ++block) {
    if (index.extent(block).size() >= kLarge) large.push_back(block);
  }
  for (bool any = true; any;) {
    any = false;
    for (const uint32_t block : large) {
      if (was_read->Has(block) || !state->marks.reached(block)) continue;
      was_read->Set(block);
      any = true;
      const AddressRange& extent = index.extent(block);
      state->reader.Read(extent.start, extent.end,
                         [&](uint64_t address, const uint64_t* words, size_t count) {
                           finder->Add(words, count, address, block);
                           state->Tell();
                         });
      finder->Flush();
    }
  }
}

class BlockSink {
 public:
  BlockSink(ScanState* state, EdgeFollower* follower) : state_(*state), follower_(*follower) {}
  void Prefetch(const Pointer& pointer, uint32_t block) {
    if (!state_.marks.settled(block) && state_.marks.settled(pointer.source)) {
      state_.marks.Prefetch(block);
    }
  }

  void OnBlock(const Pointer& pointer, uint32_t block, Place place) {
    if (pointer.source != source_) Begin(pointer.source);
    if (state_.marks.settled(block)) return;
    if (source_reached_) {
      state_.marks.Reach(block, place, {pointer.address, source_, false});
    } else {
      state_.edges.Add(pointer.address, block, place);
    }
  }
  void OnOther(const Pointer&) {}
  void OnBatch() {
    // Side by side it costs less; too late, and more pointers must be kept.
    if (state_.marks.to_follow().size() >= state_.follow_together) follower_.Follow(source_);
    TrimInteriors(&state_);
  }

 private:
  void Begin(uint32_t source) {
    source_ = source;
    source_reached_ = state_.marks.reached(source);
    state_.edges.Begin(source, WordsOf(state_.index.extent(source)).start);
    state_.marks.set_follow_before(source + 1);
  }

  ScanState& state_;
  EdgeFollower& follower_;
  uint32_t source_ = kNoBlock;
  // When its first pointer was found. If it is reached later, its edges are followed from the list.
  bool source_reached_ = false;
};

// Has the memory searched where it is; false if that cannot be.
template <typename Wanted, typename Finder>
bool SearchBlocks(ScanState* state, Wanted&& wanted, Finder* finder) {
  constexpr uint64_t kLeast = 1 << 20;  // less is read more quickly
  constexpr uint64_t kMost = 1 << 30;   // at a time
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
  uint32_t block = 0;
  uint64_t told = 0;
  WordSearch::Found found;
  while (search->Next(&found)) {
    finder->AddFound(found, &block);
    const auto about = static_cast<uint64_t>(static_cast<double>(bytes) * block /
                                             static_cast<double>(state->index.size()));
    state->reader.Count(about - told, 0);
    told = about;
    state->Tell();
  }
  state->reader.Count(search->searched_bytes() - told, search->unreadable_bytes());
  state->other_cpu_ns += search->cpu_ns();
  return true;
}

}  // namespace

void ScanExact(ScanState* state) {
  const BlockIndex& index = state->index;
  EdgeFollower follower(state);
  BlockBits was_read(index.size());
  {
    RootSink sink(state);
    PointerFinder<RootSink> finder(&index, index.low(), index.span(), &sink, state->batch);
    ReadRoots(state, &finder);
    ReadLargeBlocks(state, &finder, &was_read);
  }
  {
    BlockSink sink(state, &follower);
    PointerFinder<BlockSink> finder(&index, index.low(), index.span(), &sink, state->batch);
    const auto wanted = [&](uint32_t block) { return !was_read.Has(block); };
    uint32_t block = 0;
    if (!SearchBlocks(state, wanted, &finder)) {
      ReadRuns(
          index, &state->reader, wanted,
          [&](uint32_t first, uint32_t, uint64_t address, const uint64_t* words, size_t count) {
            block = std::max(block, first);
            finder.AddBlocks(words, count, address, &block);
          },
          [&] { state->Tell(); });
    }
    finder.Flush();
  }
  state->edges.Finish();
  state->marks.set_follow_before(static_cast<uint32_t>(index.size()));
  do {
    follower.Follow(kNoBlock);
  } while (JudgeInteriors(state));

  std::vector<uint32_t> possible;
  state->marks.MarkInteriorsPossible(&possible);
  FinishLostBlocks(state, std::move(possible));
}

}  // namespace heapgauge::leaks
