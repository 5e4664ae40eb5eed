// Finds the few words of memory that could be pointers to blocks: most are numbers, text or zero,
// and are passed over sixteen at a time where the processor can.
//
// Pure functions, safe to call from any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapgauge::leaks {

// Writes to `found` the numbers of those of `count` words whose value lies in [low, low + span), in
// order; how many. There is room for `count + 4`. REQUIRES: low + span < 2^63.
using WordFilter = size_t (*)(const uint64_t* words, size_t count, uint64_t low, uint64_t span,
                              uint32_t* found);

// The fastest one for this processor.
WordFilter BestWordFilter();
// The one that needs nothing, for tests.
WordFilter PlainWordFilter();

}  // namespace heapgauge::leaks
