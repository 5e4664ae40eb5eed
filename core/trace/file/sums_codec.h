// Sums per stack of a segment: added up event by event, and as columns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/trace/file/column.h"
#include "core/trace/file/segment.h"

namespace heapgauge::trace {

// What adds up for one stack, its heap blocks or its mappings. As small as it can be: events come
// to stacks in no order, so that each is a look into memory.
struct Tally {
  uint64_t allocated_bytes = 0;
  uint64_t freed_bytes = 0;
  uint64_t temporary_bytes = 0;
  double lifetime_byte_ns = 0;
  uint32_t allocated_blocks = 0;
  uint32_t freed_blocks = 0;
  uint32_t temporary_blocks = 0;

  void AddBirth(uint64_t size) {
    ++allocated_blocks;
    allocated_bytes += size;
  }
  void AddDeath(uint64_t size, uint64_t lifetime_ns, bool temporary) {
    ++freed_blocks;
    freed_bytes += size;
    temporary_blocks += temporary ? 1 : 0;
    temporary_bytes += temporary ? size : 0;
    lifetime_byte_ns += Real(size) * Real(lifetime_ns);
  }
  bool empty() const { return allocated_blocks == 0 && freed_blocks == 0; }

 private:
  // A number with a sign takes one step to become a real one; nothing is so large as to need more.
  static double Real(uint64_t number) {
    return static_cast<double>(static_cast<int64_t>(number & INT64_MAX));
  }
};

// Adds the row of a stack, if there is something in it.
void AppendSums(uint32_t stack, bool is_mapping, const Tally& tally, std::vector<StackSums>* out);

// Rows as columns.
struct SumColumns {
  ColumnWriter counts;
  ColumnWriter bytes;
  ColumnWriter lifetimes;

  // The row of a stack, if there is something in it. REQUIRES: in order of stacks, heap before
  // mappings.
  void Add(uint32_t stack, bool is_mapping, const Tally& tally);

 private:
  uint32_t last_stack_ = kNoIndex;
};

// False if the bytes make no sense. `stacks` is the list that the segment has.
bool DecodeSums(std::span<const uint32_t> stacks, ColumnReader counts, ColumnReader bytes,
                ColumnReader lifetimes, std::vector<StackSums>* out);

}  // namespace heapgauge::trace
