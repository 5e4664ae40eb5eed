// How many blocks, and how many bytes they are. Plain data.
#pragma once

#include <cstdint>

namespace heapgauge::trace {

struct BlockCount {
  uint64_t blocks = 0;
  uint64_t bytes = 0;

  void Add(uint64_t size) {
    ++blocks;
    bytes += size;
  }
  void Add(const BlockCount& other) {
    blocks += other.blocks;
    bytes += other.bytes;
  }
  friend bool operator==(const BlockCount&, const BlockCount&) = default;
};

}  // namespace heapgauge::trace
