// Reads blocks in the order of their addresses. Blocks that lie side by side are read together, as
// asking for memory of another process costs more than copying what lies between them.
//
// Pure function over a RangeReader.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/leaks/scan/block_index.h"
#include "core/leaks/scan/range_reader.h"

namespace heapgauge::leaks {

// Calls run(first, last, range) for memory that holds all words of the blocks in [first, last) for
// which wanted(block): as long as kTogether at most, unless it is one block.
template <typename Wanted, typename Run>
void ForEachRunOfBlocks(const BlockIndex& index, Wanted&& wanted, Run&& run) {
  constexpr uint64_t kBridge = 2048;       // what may lie between two that are read together
  constexpr uint64_t kTogether = 4 << 20;  // then it is time for a pause
  const auto count = static_cast<uint32_t>(index.size());
  uint32_t first = 0;
  while (first < count) {
    AddressRange range = WordsOf(index.extent(first));
    if (range.size() == 0 || !wanted(first)) {
      ++first;
      continue;
    }
    uint32_t last = first + 1;  // one behind
    for (; last < count && range.size() < kTogether; ++last) {
      if (!wanted(last)) continue;
      const AddressRange next = WordsOf(index.extent(last));
      if (next.size() == 0) continue;
      if (next.start - range.end > kBridge) break;
      range.end = next.end;
    }
    run(first, last, range);
    first = last;
  }
}

// Calls run(first, last, address, words, count) for memory that holds all words of the blocks in
// [first, last) for which wanted(block), in pieces, and pause() now and then.
template <typename Wanted, typename Run, typename Pause>
void ReadRuns(const BlockIndex& index, RangeReader* reader, Wanted&& wanted, Run&& run,
              Pause&& pause) {
  ForEachRunOfBlocks(index, wanted, [&](uint32_t first, uint32_t last, const AddressRange& range) {
    reader->Read(range.start, range.end, [&](uint64_t address, const uint64_t* words, size_t size) {
      run(first, last, address, words, size);
    });
    pause();
  });
}

// Calls words(block, address, words, count) for the words of each block for which wanted(block);
// more than once for a large block.
template <typename Wanted, typename Words, typename Pause>
void ReadBlocks(const BlockIndex& index, RangeReader* reader, Wanted&& wanted, Words&& words,
                Pause&& pause) {
  uint32_t block = 0;
  ReadRuns(
      index, reader, wanted,
      [&](uint32_t first, uint32_t last, uint64_t address, const uint64_t* piece, size_t size) {
        const uint64_t end = address + size * 8;
        for (block = std::max(block, first); block < last; ++block) {
          const AddressRange own = WordsOf(index.extent(block));
          const uint64_t from = std::max(own.start, address);
          const uint64_t to = std::min(own.end, end);
          if (from < to && wanted(block)) {
            words(block, from, piece + (from - address) / 8, static_cast<size_t>(to - from) / 8);
          }
          if (own.end > end) break;
        }
      },
      pause);
}

}  // namespace heapgauge::leaks
