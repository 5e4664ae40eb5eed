// The columns of allocations: what they mean, and their values in a block.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "core/query/virtual_table.h"
#include "core/trace/file/block.h"

namespace heapgauge::query::allocation {

enum Id : int {
  kNumber,
  kBorn,
  kFreed,
  kLifetime,
  kAddress,
  kSize,
  kSlack,
  kAlignment,
  kCall,
  kStack,
  kThread,
  kFreedBy,
  kDistance,
  kTemporary,
  kPrevious,
  kIsMapping,
  kResized,
  kLifespan,
};

std::vector<Column> Columns();

inline constexpr int64_t kNullColumn = INT64_MIN;

// What the recording tells about all of its blocks.
struct Recorded {
  uint64_t end_ns = 0;
  bool only_blocks = false;  // see trace::Facts
};

// A column as a number; of `call` its code, -1 for mmap; kNullColumn if it is not known. Lifespan
// is none.
int64_t NumberIn(const trace::Block& block, int column, const Recorded& recorded);
// Puts what NumberIn gave.
void PutNumber(int column, int64_t value, sqlite3_context* out);

// Whether it tells when or how a block ended.
bool NeedsEnd(int column);

}  // namespace heapgauge::query::allocation
