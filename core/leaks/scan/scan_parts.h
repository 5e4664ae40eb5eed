// What both kinds of scan are made of: of all blocks (exact_scan.cc) and of some (sampled_scan.cc).
// Only scan.cc and these two use it.
//
// Owned by one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/progress.h"
#include "core/leaks/scan/block_index.h"
#include "core/leaks/scan/block_reader.h"
#include "core/leaks/scan/edge_list.h"
#include "core/leaks/scan/extent_records.h"
#include "core/leaks/scan/known_blocks.h"
#include "core/leaks/scan/marks.h"
#include "core/leaks/scan/memory_image.h"
#include "core/leaks/scan/pointer_finder.h"
#include "core/leaks/scan/range_reader.h"
#include "core/leaks/scan/roots.h"

namespace heapgauge::leaks {

struct ScanOptions {
  uint32_t heuristics = ~0u;  // bit n: Heuristic n counts
  ProgressSink* progress = nullptr;
};

struct ScanState {
  ScanState(const MemoryImage& image, const std::vector<KnownBlock>& blocks, const Roots& all_roots,
            const ScanOptions& options)
      : memory(image),
        roots(all_roots),
        index(blocks),
        marks(image, index, all_roots, options.heuristics),
        edges(index.size()),
        reader(image),
        progress(options.progress) {}

  void Tell() {
    if (progress == nullptr) return;
    progress->Report("searching memory for pointers",
                     reader.read_bytes() + reader.unreadable_bytes(), total_bytes, "bytes");
  }

  const MemoryImage& memory;
  const Roots& roots;
  BlockIndex index;
  Marks marks;
  EdgeList edges;  // of blocks that were not reached when they were read
  RangeReader reader;
  ProgressSink* progress;
  uint64_t total_bytes = 0;    // that will be read, about
  uint64_t other_cpu_ns = 0;   // that was spent elsewhere
  bool may_search = true;      // have memory searched where it is
  bool search_failed = false;  // midway: there are no verdicts
  // How many pointers are told together, and how many are kept before they are followed; tests take
  // few.
  size_t batch = PointerFinder<int>::kBatch;
  size_t follow_together = 8 * 1024;
};

// Judges pointers into the middle of blocks; see Marks.
bool JudgeInteriors(ScanState* state);
void TrimInteriors(ScanState* state);

// Tells `finder` of words that lie in no known block.
template <typename Finder>
void AddUnowned(const Roots& roots, const uint64_t* words, size_t count, uint64_t address,
                Finder* finder) {
  if (roots.has_extent_records) {
    AddWithoutExtentRecords(words, count, address, kNoBlock, finder);
  } else {
    finder->Add(words, count, address, kNoBlock);
  }
}

// Tells `finder` of all words of roots that lie in no block.
template <typename Finder>
void ReadRoots(ScanState* state, Finder* finder) {
  for (const RootRange& root : state->roots.ranges) {
    uint64_t start = root.range.start;
    uint32_t block = state->index.FirstEndingAfter(start);
    while (start < root.range.end) {
      const bool last =
          block >= state->index.size() || state->index.extent(block).start >= root.range.end;
      const uint64_t end = last ? root.range.end : state->index.extent(block).start;
      state->reader.Read(start, end, [&](uint64_t address, const uint64_t* words, size_t count) {
        AddUnowned(state->roots, words, count, address, finder);
        state->Tell();
      });
      if (last) break;
      start = state->index.extent(block++).end;
    }
  }
  finder->Flush();
}

// Follows edges of blocks that are possibly lost, then groups what is left.
void FinishLostBlocks(ScanState* state, std::vector<uint32_t> possible);

void ScanExact(ScanState* state);
void ScanSampled(ScanState* state);
void ScanAll(ScanState* state, bool exact);

}  // namespace heapgauge::leaks
