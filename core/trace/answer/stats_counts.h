// What one thread counts for `stats`: each block of a trace once, when all is known about it.
//
// Counts are filled by one thread and added up afterwards.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/trace/answer/block_groups.h"
#include "core/trace/answer/trace_stats.h"

namespace heapgauge::trace {

// Which of equal stretches a time is in. Times that are asked about mostly lie near each other, so
// the division is seldom made.
class TimeBins {
 public:
  TimeBins() = default;
  TimeBins(uint64_t width_ns, size_t count) : width_ns_(width_ns), last_(count - 1) {}

  // Times behind the last one are in the last one.
  size_t At(uint64_t time_ns) {
    if (time_ns - begin_ns_ >= width_ns_) {
      bin_ = time_ns / width_ns_;
      begin_ns_ = bin_ * width_ns_;
    }
    return bin_ < last_ ? static_cast<size_t>(bin_) : last_;
  }

 private:
  uint64_t width_ns_ = 1;
  size_t last_ = 0;
  uint64_t begin_ns_ = 0;
  uint64_t bin_ = 0;
};

class StatsCounts {
 public:
  // All must outlive this.
  StatsCounts(const TraceFile& trace, const BlockGroups& groups, const StatsRequest& request);

  // REQUIRES: the block is as at its death, or live at the end of the trace.
  void Add(const Block& block);
  // Of a block that comes soon.
  void Prefetch(const Block& block) const {
    __builtin_prefetch(&sums_.groups[groups_->Of(block)], 1);
  }
  void Add(const StatsCounts& other);
  // Everything but peak, chains and pages.
  TraceStats Take();

 private:
  static constexpr uint64_t kSmallSizes = 1 << 16;   // are counted in an array
  static constexpr size_t kMaxLargeSizes = 1 << 20;  // more are not counted one by one

  void CountSize(uint64_t size, uint64_t blocks);
  void CountLarge(uint64_t size, uint64_t blocks);
  void SumUp();
  ThreadStats* ThreadAt(uint32_t index);

  const BlockGroups* groups_;
  const StatsRequest* request_;
  TraceStats sums_;
  // Of Rates::bins and Rates::course.
  TimeBins birth_bins_, death_bins_;
  TimeBins birth_parts_, death_parts_;
  std::vector<uint64_t> small_sizes_;
  std::unordered_map<uint64_t, uint64_t> large_sizes_;
};

}  // namespace heapgauge::trace
