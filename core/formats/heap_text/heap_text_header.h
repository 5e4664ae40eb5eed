// The first line of a heap profile in gperftools' text format, and what it says about sampling.
//
//   heap profile:   2: 132096 [  5: 655360] @ heap_v2/524288
//
// Counts and bytes in use, counts and bytes ever allocated, the kind, the rate. Which arithmetic a
// kind asks for, the tools do not agree upon; docs/formats/heap-text.md has the table.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/formats/text/text_options.h"
#include "core/formats/text/unsample.h"
#include "core/model/types.h"

namespace heapgauge {

struct HeapTextHeader {
  CountAndSize in_use;
  CountAndSize allocated;
  std::string kind;  // "heap_v2"; "" in very old files
  int64_t period = 0;
  bool has_allocated = false;  // rows have figures of their own for all that was ever allocated
  Sampling values;             // pprof's arithmetic
  Sampling estimates;          // that of the dialect
};

// The message of an error says what is wrong with the line.
Result<HeapTextHeader> ParseHeapTextHeader(std::string_view line, TextDialect dialect);

// Figures of allocations are told apart from those in use only if they differ from them and from
// zero.
bool TellsAllocated(CountAndSize in_use, CountAndSize allocated);

// Four types, or objects and space alone.
std::vector<SampleType> LegacyHeapTypes(bool has_allocated);

}  // namespace heapgauge
