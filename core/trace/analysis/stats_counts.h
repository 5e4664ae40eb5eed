// What one thread counts for `stats`: each block of a trace once, when all is known about it.
//
// Counts are filled by one thread and added up afterwards.
#ifndef HEAPGAUGE_CORE_TRACE_ANALYSIS_STATS_COUNTS_H_
#define HEAPGAUGE_CORE_TRACE_ANALYSIS_STATS_COUNTS_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/trace/analysis/stats.h"

namespace heapgauge::trace {

class StatsCounts {
 public:
  // All must outlive this.
  StatsCounts(const TraceFile& trace, const BlockGroups& groups, const StatsRequest& request);

  // REQUIRES: the block is as at its death, or live at the end of the trace.
  void Add(const Block& block);
  void Add(const StatsCounts& other);
  // Everything but peak, chains and pages.
  TraceStats Take();

 private:
  static constexpr uint64_t kSmallSizes = 1 << 16;   // are counted in an array
  static constexpr size_t kMaxLargeSizes = 1 << 20;  // more are not counted one by one

  void CountSize(uint64_t size, uint64_t blocks);
  RateBin* BinAt(uint64_t time_ns);
  RateBin* PartAt(uint64_t time_ns);
  ThreadStats* ThreadAt(uint32_t index);

  const BlockGroups* groups_;
  const StatsRequest* request_;
  TraceStats sums_;
  uint64_t part_ns_ = 1;  // of Rates::course
  std::vector<uint64_t> small_sizes_;
  std::unordered_map<uint64_t, uint64_t> large_sizes_;
};

}  // namespace heapgauge::trace

#endif  // HEAPGAUGE_CORE_TRACE_ANALYSIS_STATS_COUNTS_H_
