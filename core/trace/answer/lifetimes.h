// How long blocks live, by their size and by whom they were allocated: exact counts over a whole
// trace, or over the blocks that a filter leaves.
//
// Memory: a small record for each group, and a histogram of 1.6 kB for those that a report can
// show. Where there are many more groups, the trace is read twice: first to find the
// largest, then for their histograms.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/fold/ages_and_sizes.h"
#include "core/trace/answer/block_groups.h"
#include "core/trace/answer/trace_filter.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::trace {

// Of one group, or of all.
struct LifetimeSums {
  BlockCount all;
  BlockCount never_freed;
  BlockCount temporary;  // freed before the next allocation of the thread
  // Nanoseconds, of the freed ones. Whole numbers come out the same in any order.
  unsigned __int128 lifetime_sum = 0;

  void Add(const Block& block);
  void Add(const LifetimeSums& other);
  uint64_t freed_blocks() const { return all.blocks - never_freed.blocks; }
  double mean_ns() const {
    if (freed_blocks() == 0) return 0;
    return static_cast<double>(lifetime_sum) / static_cast<double>(freed_blocks());
  }
};

struct LifetimeHistogram {
  std::array<BlockCount, kLifetimeSteps> steps{};
  std::array<uint64_t, kFineSteps> fine{};  // blocks that were freed
  uint64_t shortest_ns = UINT64_MAX;        // of these
  uint64_t longest_ns = 0;

  void Add(const Block& block);
  void Add(const LifetimeHistogram& other);
  // The lifetime that the share `p` of the freed blocks does not exceed, within 15 % and between
  // the shortest and the longest; 0 if none was freed.
  double Percentile(double p) const;
};

struct LifetimeRow {
  uint32_t group = 0;
  LifetimeSums sums;
  LifetimeHistogram histogram;
};

enum class LifetimeSort { kBlocks, kBytes, kNeverFreed, kTemporary, kLifetime };
LifetimeSort LifetimeSortOf(std::string_view name);

struct LifetimeReport {
  LifetimeSums total;
  LifetimeHistogram histogram;
  std::array<std::array<BlockCount, kLifetimeSteps>, kSizeClasses> cells{};
  std::vector<LifetimeRow> rows;  // largest first, as many as were asked for
  size_t groups = 0;              // that have any block

  BlockCount SizeClass(size_t size_class) const;
};

struct LifetimeRequest {
  const Matcher* matcher = nullptr;  // null: all heap blocks
  LifetimeSort sort = LifetimeSort::kBlocks;
  size_t rows = 20;
  size_t max_histograms = 8192;
};

Result<LifetimeReport> ReadLifetimes(const TraceFile& trace, const BlockGroups& groups,
                                     const LifetimeRequest& request,
                                     ProgressSink* progress = nullptr);

}  // namespace heapgauge::trace
