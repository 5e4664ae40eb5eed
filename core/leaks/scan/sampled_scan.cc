// The scan where some blocks are known. What lies between them is searched too: pointers may lead
// from a root through any number of blocks that nobody knows to one that is known. Memory is read
// in sweeps of ascending addresses, each reading what was reached by then, since the first pointers
// into a part of the heap are mostly followed by many.
#include "core/leaks/scan/scan.h"
#include "core/leaks/scan/unknown_memory.h"

namespace heapgauge::leaks {
namespace {

class ReachSink {
 public:
  ReachSink(ScanState* state, UnknownMemory* unknown) : state_(*state), unknown_(*unknown) {}
  void Prefetch(const Pointer&, uint32_t block) { state_.marks.Prefetch(block); }
  void OnBlock(const Pointer& pointer, uint32_t block, Place place) {
    state_.marks.Reach(block, place, {pointer.address, pointer.source, false});
  }
  void OnOther(const Pointer& pointer) {
    if (unknown_.Holds(pointer.value)) unknown_.Reach(pointer.value);
  }
  void OnBatch() { TrimInteriors(&state_); }

 private:
  ScanState& state_;
  UnknownMemory& unknown_;
};
using ReachFinder = PointerFinder<ReachSink>;

// What memory that nothing reaches points to.
class LeftoverSink {
 public:
  LeftoverSink(ScanState* state, std::vector<uint32_t>* possible)
      : state_(*state), possible_(*possible) {}
  void Prefetch(const Pointer&, uint32_t block) { state_.marks.Prefetch(block); }
  void OnBlock(const Pointer& pointer, uint32_t block, Place) {
    if (state_.marks.MarkPossible(block, {pointer.address, kNoBlock, false})) {
      possible_.push_back(block);
    }
  }
  void OnOther(const Pointer&) {}
  void OnBatch() {}

 private:
  ScanState& state_;
  std::vector<uint32_t>& possible_;
};

class EdgeSink {
 public:
  explicit EdgeSink(ScanState* state) : state_(*state) {}
  void Prefetch(const Pointer&, uint32_t) {}
  void OnBlock(const Pointer& pointer, uint32_t block, Place place) {
    if (state_.marks.reached(block)) return;
    state_.edges.Add(pointer.source, pointer.address, block, place);
  }
  void OnOther(const Pointer&) {}
  void OnBatch() {}

 private:
  ScanState& state_;
};

// Reads a region page by page as they are reached, and keeps it while it is looked at.
class RegionScan {
 public:
  RegionScan(ScanState* state, UnknownMemory* unknown, ReachFinder* finder)
      : state_(*state),
        unknown_(*unknown),
        finder_(*finder),
        words_(UnknownMemory::kRegionBytes / 8) {}

  void Scan(uint64_t region) {
    loaded_ = {};
    const std::array<uint64_t, 4>& pending = unknown_.pending_pages(region);
    for (bool any = true; any;) {
      any = false;
      for (uint32_t page = 0; page < UnknownMemory::kRegionPages; ++page) {
        if (!Has(pending, page)) continue;
        if (!Has(loaded_, page)) Load(region, page, pending);
        ScanPage(region, page);
        any = true;
      }
      finder_.Flush();
    }
  }

 private:
  using Pages = std::array<uint64_t, 4>;
  static bool Has(const Pages& pages, uint32_t page) {
    return (pages[page / 64] >> (page % 64) & 1) != 0;
  }

  // This page and those behind it that are needed too.
  void Load(uint64_t region, uint32_t first, const Pages& pending) {
    uint32_t end = first;
    while (end < UnknownMemory::kRegionPages && Has(pending, end) && !Has(loaded_, end)) {
      loaded_[end / 64] |= uint64_t{1} << (end % 64);
      ++end;
    }
    constexpr uint64_t kPage = UnknownMemory::kPageBytes;
    state_.reader.ReadTo(region * UnknownMemory::kRegionBytes + first * kPage,
                         (end - first) * kPage, words_.data() + first * kPage / 8);
  }

  void ScanPage(uint64_t region, uint32_t page) {
    const uint64_t number = region * UnknownMemory::kRegionPages + page;
    const uint64_t* words = words_.data() + size_t{page} * UnknownMemory::kPageWords;
    ForEachRun(unknown_.TakeWords(number), [&](uint32_t first, uint32_t count) {
      AddUnowned(state_.roots, words + first, count, number * UnknownMemory::kPageBytes + first * 8,
                 &finder_);
    });
  }

  ScanState& state_;
  UnknownMemory& unknown_;
  ReachFinder& finder_;
  std::vector<uint64_t> words_;
  Pages loaded_{};
};

// Everything that reached memory leads to.
void Sweep(ScanState* state, UnknownMemory* unknown, ReachFinder* finder, RegionScan* regions) {
  for (;;) {
    std::vector<uint32_t> blocks(state->marks.to_follow_count());
    for (size_t i = 0; i < blocks.size(); ++i) blocks[i] = state->marks.to_follow(i);
    state->marks.ForgetToFollow();
    std::sort(blocks.begin(), blocks.end());
    const std::vector<uint64_t> pending = unknown->TakeRegions();
    if (blocks.empty() && pending.empty()) return;
    for (const uint32_t block : blocks) {
      const AddressRange& extent = state->index.extent(block);
      state->reader.Read(extent.start, extent.end,
                         [&](uint64_t address, const uint64_t* words, size_t count) {
                           finder->Add(words, count, address, block);
                         });
    }
    finder->Flush();
    for (const uint64_t region : pending) {
      regions->Scan(region);
      state->Tell();
    }
  }
}

// Memory of the heap that nothing reaches, of no known block.
void ReadLeftovers(ScanState* state, UnknownMemory* unknown, std::vector<uint32_t>* possible) {
  constexpr uint64_t kPage = UnknownMemory::kPageBytes;
  constexpr uint64_t kTogether = 1024;  // pages
  LeftoverSink sink(state, possible);
  PointerFinder<LeftoverSink> finder(&state->index, state->index.low(), state->index.span(), &sink);
  uint64_t page = 0;
  for (uint32_t i = 0; i < unknown->heap().size(); ++i) {
    const AddressRange& range = unknown->heap().extent(i);
    page = std::max(page, range.start / kPage);  // two ranges may share a page
    while (page * kPage < range.end) {
      uint64_t end = page;
      while (end * kPage < range.end && end - page < kTogether && !unknown->IsDone(end)) ++end;
      uint64_t at = page;  // whose bits these are
      UnknownMemory::PageBits bits = unknown->UnreachedWords(at);
      state->reader.Read(
          page * kPage, end * kPage, [&](uint64_t address, const uint64_t* words, size_t count) {
            const uint64_t piece_end = address + count * 8;
            for (uint64_t number = address / kPage; number * kPage < piece_end; ++number) {
              if (number != at) bits = unknown->UnreachedWords(at = number);
              ForEachRun(bits, [&](uint32_t first, uint32_t run) {
                const uint64_t from = std::max(number * kPage + first * 8, address);
                const uint64_t to = std::min(number * kPage + (first + run) * 8, piece_end);
                if (from >= to) return;
                AddUnowned(state->roots, words + (from - address) / 8,
                           static_cast<size_t>(to - from) / 8, from, &finder);
              });
            }
          });
      state->Tell();
      page = std::max(end, page + 1);
    }
  }
  finder.Flush();
}

}  // namespace

void ScanSampled(ScanState* state) {
  const BlockIndex& index = state->index;
  UnknownMemory unknown(index, state->roots.heap);
  std::vector<uint32_t> possible;
  {
    // Values outside of all blocks and of the heap are no pointers.
    uint64_t low = index.span() != 0 ? index.low() : UINT64_MAX;
    uint64_t high = index.low() + index.span();
    if (unknown.heap().span() != 0) {
      low = std::min(low, unknown.heap().low());
      high = std::max(high, unknown.heap().low() + unknown.heap().span());
    }
    if (low > high) low = high;
    ReachSink sink(state, &unknown);
    ReachFinder finder(&index, low, high - low, &sink);
    RegionScan regions(state, &unknown, &finder);
    for (const RootRegister& root : state->roots.registers) {
      if (index.Find(root.value) == kNoBlock && unknown.Holds(root.value)) {
        unknown.Reach(root.value);
      }
    }
    ReadRoots(state, &finder);
    do {
      Sweep(state, &unknown, &finder, &regions);
    } while (JudgeInteriors(state));
  }
  state->marks.MarkInteriorsPossible(&possible);
  ReadLeftovers(state, &unknown, &possible);
  {
    EdgeSink sink(state);
    PointerFinder<EdgeSink> finder(&index, index.low(), index.span(), &sink);
    ReadBlocks(
        index, &state->reader, [state](uint32_t block) { return !state->marks.reached(block); },
        [&](uint32_t block, uint64_t address, const uint64_t* words, size_t count) {
          finder.Add(words, count, address, block);
        },
        [state] { state->Tell(); });
    finder.Flush();
  }
  FinishLostBlocks(state, std::move(possible));
}

}  // namespace heapgauge::leaks
