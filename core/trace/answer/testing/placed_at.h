// A live block at some address. Not for use outside of tests.
#ifndef HEAPGAUGE_CORE_TRACE_ANSWER_TESTING_PLACED_AT_H_
#define HEAPGAUGE_CORE_TRACE_ANSWER_TESTING_PLACED_AT_H_

#include <cstdint>

#include "core/trace/answer/page_use.h"

namespace heapgauge::trace::testing {

inline PlacedBlock PlacedAt(uint64_t address, uint64_t size, uint32_t group = 0) {
  Block block;
  block.address = address;
  block.size = size;
  return PlacedBlock::Make(block, group);
}

}  // namespace heapgauge::trace::testing

#endif  // HEAPGAUGE_CORE_TRACE_ANSWER_TESTING_PLACED_AT_H_
