// Reads a memory image through a bounded buffer: ranges of it, or blocks in the order of their
// addresses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/leaks/scan/block_index.h"
#include "core/leaks/scan/memory_image.h"

namespace heapgauge::leaks {

// Reads ranges of a memory image through a bounded buffer, in pieces, and passes over what cannot
// be read.
//
// Owned by one thread.
class RangeReader {
 public:
  // Stays in the cache of a core between being filled and being looked at.
  static constexpr size_t kBufferBytes = 256 << 10;

  explicit RangeReader(const MemoryImage& image) : image_(image), buffer_(kBufferBytes / 8) {}

  // Calls piece(address, words, count) for the aligned words of [start, end) that can be read, in
  // order.
  template <typename Piece>
  void Read(uint64_t start, uint64_t end, Piece&& piece) {
    start = start > UINT64_MAX - 7 ? end : (start + 7) & ~uint64_t{7};
    end &= ~uint64_t{7};
    while (start < end) {
      const size_t wanted = static_cast<size_t>(std::min<uint64_t>(end - start, kBufferBytes));
      const size_t got = image_.Read(start, wanted, buffer_.data()) & ~size_t{7};
      if (got != 0) {
        read_bytes_ += got;
        piece(start, buffer_.data(), got / 8);
        start += got;
      }
      if (got < wanted) {
        const uint64_t next = std::max(start + 8, image_.NextReadable(start, end) & ~uint64_t{7});
        unreadable_bytes_ += std::min(next, end) - start;
        start = next;
      }
    }
  }

  // Fills `to` with `size` bytes from `address`, and zero where they cannot be read.
  void ReadTo(uint64_t address, size_t size, void* to) {
    auto* bytes = static_cast<uint8_t*>(to);
    for (size_t at = 0; at < size;) {
      const size_t got = image_.Read(address + at, size - at, bytes + at);
      read_bytes_ += got;
      at += got;
      if (at >= size) break;
      const uint64_t next =
          std::max(address + at + 1, image_.NextReadable(address + at, address + size));
      const size_t hole = static_cast<size_t>(std::min(next - address, uint64_t{size})) - at;
      std::memset(bytes + at, 0, hole);
      unreadable_bytes_ += hole;
      at += hole;
    }
  }

  // What was searched without being read.
  void Count(uint64_t searched, uint64_t unreadable) {
    read_bytes_ += searched;
    unreadable_bytes_ += unreadable;
  }

  uint64_t read_bytes() const { return read_bytes_; }
  uint64_t unreadable_bytes() const { return unreadable_bytes_; }

 private:
  const MemoryImage& image_;
  std::vector<uint64_t> buffer_;
  uint64_t read_bytes_ = 0;
  uint64_t unreadable_bytes_ = 0;
};

// Reads blocks in the order of their addresses. Blocks that lie side by side are read together, as
// asking for memory of another process costs more than copying what lies between them.
//
// Pure functions over a RangeReader.

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
