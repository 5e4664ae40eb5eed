// Sums per stack of a segment: made of its events, and as columns.
#ifndef HEAPGAUGE_CORE_TRACE_FILE_SUMS_CODEC_H_
#define HEAPGAUGE_CORE_TRACE_FILE_SUMS_CODEC_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/trace/file/column.h"
#include "core/trace/segment.h"

namespace heapgauge::trace {

// Adds up by place in a list of stacks.
class SumsMaker {
 public:
  void Begin();
  // At the next place.
  void AddStack(uint32_t stack);

  void Birth(uint32_t place, uint64_t size, bool is_mapping) {
    StackSums& s = Of(place, is_mapping);
    ++s.allocated_blocks;
    s.allocated_bytes += size;
  }
  void Death(uint32_t place, uint64_t size, bool is_mapping, uint64_t lifetime_ns, bool temporary) {
    StackSums& s = Of(place, is_mapping);
    ++s.freed_blocks;
    s.freed_bytes += size;
    if (temporary) {
      ++s.temporary_blocks;
      s.temporary_bytes += size;
    }
    s.lifetime_byte_ns += static_cast<double>(size) * static_cast<double>(lifetime_ns);
  }
  void Prefetch(uint32_t place) const { __builtin_prefetch(&heap_[place], 1); }
  // Heap before mappings, stacks in the order of these places. Valid until the next Begin.
  const std::vector<StackSums>& Finish(std::span<const uint32_t> places);

 private:
  StackSums& Of(uint32_t place, bool is_mapping) {
    return is_mapping ? OfMappings(place) : heap_[place];
  }
  StackSums& OfMappings(uint32_t place);

  // In one line of the cache.
  struct alignas(64) Row : StackSums {};
  static_assert(sizeof(Row) == 64);

  std::vector<Row> heap_;      // by place
  std::vector<Row> mappings_;  // by place, shorter or empty if there are none
  std::vector<StackSums> all_;
};

struct SumColumns {
  ColumnWriter counts;
  ColumnWriter bytes;
  ColumnWriter lifetimes;
};

// `stacks` as given to SumsMaker.
void EncodeSums(const std::vector<StackSums>& sums, SumColumns* out);

// False if the bytes make no sense. `stacks` is the list that the segment has.
bool DecodeSums(std::span<const uint32_t> stacks, ColumnReader counts, ColumnReader bytes,
                ColumnReader lifetimes, std::vector<StackSums>* out);

}  // namespace heapgauge::trace

#endif  // HEAPGAUGE_CORE_TRACE_FILE_SUMS_CODEC_H_
