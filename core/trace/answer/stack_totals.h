// What happened to each stack from the beginning of a trace up to a position: the sums of whole
// segments, and the events of the last one up to there. Two of them tell about the range between.
//
// From an open trace, in one pass for all positions that are asked for; or with the help of
// SumsIndex, which keeps some of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/trace/answer/trace_position.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::trace {

struct StackTotal {
  uint64_t allocated_blocks = 0;
  uint64_t allocated_bytes = 0;
  uint64_t freed_blocks = 0;
  uint64_t freed_bytes = 0;
  uint64_t temporary_blocks = 0;
  uint64_t temporary_bytes = 0;
  double lifetime_byte_ns = 0;

  // Sums of a damaged file may free more than there is.
  uint64_t live_blocks() const {
    return allocated_blocks > freed_blocks ? allocated_blocks - freed_blocks : 0;
  }
  uint64_t live_bytes() const {
    return allocated_bytes > freed_bytes ? allocated_bytes - freed_bytes : 0;
  }

  void Add(const StackSums& sums);
  void AddBirth(const Block& block);
  void AddDeath(const Block& block);
};

// By number of the stack.
using StackTotals = std::vector<StackTotal>;

// Adds the sums of a segment. Numbers out of range are left out.
Status AddSums(const TraceFile& trace, size_t segment, Mappings mappings,
               std::vector<StackSums>* scratch, StackTotals* totals);

// The totals at some moments of a trace that is asked about again and again: from the nearest one,
// only the sums of a few segments are to be added. Heap blocks only. Memory is bounded by `budget`.
// Thread-safe once it is made; copies share what is kept.
class SumsIndex {
 public:
  static constexpr uint64_t kBudget = uint64_t{64} << 20;

  SumsIndex() = default;
  // `before` is that of the same trace when it had fewer segments: only the new ones are read.
  static Result<SumsIndex> Make(const TraceFile& trace, uint64_t budget, ProgressSink* progress,
                                SumsIndex before);

  // The number of segments that the nearest one at or before `segment` covers, and itself; null:
  // begin with nothing. It has no totals for stacks that came later.
  const StackTotals* Nearest(size_t segment, size_t* covered) const;

 private:
  void KeepEachSecond();

  size_t step_ = 0;  // segments from one to the next
  std::vector<std::shared_ptr<const StackTotals>> kept_;
};

// The totals at each position. REQUIRES: in ascending order.
Result<std::vector<StackTotals>> TotalsAt(const TraceFile& trace,
                                          const std::vector<Position>& positions, Mappings mappings,
                                          const SumsIndex& index, EdgeSegments* edges,
                                          ProgressSink* progress);

}  // namespace heapgauge::trace
