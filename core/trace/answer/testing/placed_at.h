// A live block at some address. Not for use outside of tests.
#pragma once

#include <cstdint>

#include "core/trace/answer/heap_layout.h"

namespace heapgauge::trace::testing {

inline PlacedBlock PlacedAt(uint64_t address, uint64_t size, uint32_t group = 0) {
  Block block;
  block.address = address;
  block.size = size;
  return PlacedBlock::Make(block, group);
}

}  // namespace heapgauge::trace::testing
