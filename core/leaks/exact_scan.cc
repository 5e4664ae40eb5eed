// The scan where every block is known. Blocks are read once, in the order of their addresses. What
// a block points to is followed at once if the block is known to be reached by then. Otherwise its
// pointers are kept, and followed when it is reached after all, or when lost blocks are grouped.
// Nothing is read in the order in which it is reached: that would be a system call for each block.
#include "core/leaks/scan_parts.h"

namespace heapgauge::leaks {
namespace {

// Follows pointers of reached blocks that were kept, and what they lead to.
void FollowEdges(ScanState* state, uint32_t incomplete) {
  std::vector<uint32_t>& to_follow = state->marks.to_follow();
  bool again = false;  // the block that is incomplete must be looked at later
  while (!to_follow.empty()) {
    const uint32_t block = to_follow.back();
    to_follow.pop_back();
    if (block == incomplete) {
      again = true;
      continue;
    }
    const uint64_t start = WordsOf(state->index.extent(block)).start;
    state->edges.ForEach(block, [&](uint64_t word, uint32_t to, Place place) {
      state->marks.Reach(to, place, {start + word * 8, block, false});
    });
  }
  if (again) to_follow.push_back(incomplete);
}

class RootSink {
 public:
  explicit RootSink(ScanState* state) : state_(*state) {}
  void Prefetch(uint32_t block) { state_.marks.Prefetch(block); }
  void OnBlock(const Pointer& pointer, uint32_t block) {
    const uint64_t offset = pointer.value - state_.index.extent(block).start;
    state_.marks.Reach(block, PlaceOf(offset), {pointer.address, kNoBlock, false});
  }
  void OnOther(const Pointer&) {}
  void OnBatch() { state_.marks.TrimInteriors(); }

 private:
  ScanState& state_;
};

class BlockSink {
 public:
  explicit BlockSink(ScanState* state) : state_(*state) {}
  void Prefetch(uint32_t block) { state_.marks.Prefetch(block); }

  void OnBlock(const Pointer& pointer, uint32_t block) {
    if (pointer.source != source_) Begin(pointer.source);
    const Place place = PlaceOf(pointer.value - state_.index.extent(block).start);
    if (source_reached_) {
      state_.marks.Reach(block, place, {pointer.address, source_, false});
    } else if (!state_.marks.reached(block)) {
      state_.edges.Add((pointer.address - source_start_) / 8, block, place);
    }
  }
  void OnOther(const Pointer&) {}
  void OnBatch() {
    FollowEdges(&state_, source_);
    state_.marks.TrimInteriors();
  }

 private:
  void Begin(uint32_t source) {
    source_ = source;
    source_start_ = WordsOf(state_.index.extent(source)).start;
    source_reached_ = state_.marks.reached(source);
    state_.edges.Begin(source);
    state_.marks.set_follow_before(source + 1);
  }

  ScanState& state_;
  uint32_t source_ = kNoBlock;
  uint64_t source_start_ = 0;
  // When its first pointer was found. If it is reached later, its edges are followed from the list.
  bool source_reached_ = false;
};

}  // namespace

void ScanExact(ScanState* state) {
  const BlockIndex& index = state->index;
  {
    RootSink sink(state);
    PointerFinder<RootSink> finder(&index, index.low(), index.span(), &sink);
    ReadRoots(state, &finder);
  }
  {
    BlockSink sink(state);
    PointerFinder<BlockSink> finder(&index, index.low(), index.span(), &sink);
    ReadBlocks(
        index, &state->reader, [](uint32_t) { return true; },
        [&](uint32_t block, uint64_t address, const uint64_t* words, size_t count) {
          const AddressRange& extent = index.extent(block);
          // Where a piece ends between the two words they are read when they are needed.
          if (address == extent.start && (count > 1 || extent.size() < 16)) {
            const uint64_t second = count > 1 ? words[1] : 0;
            state->marks.SetFacts(block, FactsOf(extent.size(), words[0], second));
          }
          finder.Add(words, count, address, block);
        },
        [&] { state->Tell(); });
    finder.Flush();
  }
  state->edges.Finish();
  state->marks.set_follow_before(static_cast<uint32_t>(index.size()));
  do {
    FollowEdges(state, kNoBlock);
  } while (state->marks.JudgeInteriors());

  std::vector<uint32_t> possible;
  state->marks.MarkInteriorsPossible(&possible);
  FinishLostBlocks(state, std::move(possible));
}

}  // namespace heapgauge::leaks
