// The figures of a trace as reports show them, and what is requested of them.
//
// Plain data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/fold/lifetime_scale.h"
#include "core/trace/answer/block_count.h"
#include "core/trace/answer/page_use.h"
#include "core/trace/answer/realloc_chains.h"
#include "core/trace/answer/trace_filter.h"

namespace heapgauge::trace {

inline constexpr size_t kCallKinds = 16;  // wire::AllocationFunction, and room for more
inline constexpr size_t kAlignments = 64;

struct GroupStats {
  BlockCount all;
  BlockCount never_freed;
  BlockCount temporary;    // freed within StatsRequest::temporary_within allocations
  BlockCount short_large;  // large and short-lived, as the request says
  uint64_t slack_bytes = 0;

  void Add(const GroupStats& other);
};

struct ThreadStats {
  BlockCount allocated;
  uint64_t frees = 0;            // by this thread
  uint64_t frees_of_others = 0;  // of these: of blocks that another thread allocated
  uint64_t freed_by_others = 0;  // its own blocks
  BlockCount never_freed;        // its own blocks

  void Add(const ThreadStats& other);
};

struct SizeStats {
  BlockCount all;
  BlockCount never_freed;
};

struct ExactSize {
  uint64_t size = 0;
  uint64_t blocks = 0;
};

// What happened in one stretch of time.
struct RateBin {
  uint64_t allocations = 0;
  uint64_t bytes = 0;
  uint64_t frees = 0;

  void Add(const RateBin& other);
};

inline constexpr size_t kCourseParts = 100;

struct Rates {
  uint64_t over_ns = 0;  // the time in which the blocks were to be allocated: the trace, or less
  uint64_t bin_ns = 0;   // a second, unless the trace is very long
  std::vector<RateBin> bins;  // from the start of the trace
  size_t busiest = 0;         // the bin with the most allocations
  // The same in equal parts of the whole trace, for pictures.
  std::array<RateBin, kCourseParts> course{};
};

struct StatsPeak {
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  uint64_t time_ns = 0;
};

struct TraceStats {
  uint64_t duration_ns = 0;
  BlockCount allocated;
  BlockCount freed;
  BlockCount never_freed;
  BlockCount temporary;
  BlockCount short_large;
  BlockCount zero_sized;  // requests of 0 bytes
  uint64_t slack_bytes = 0;
  uint64_t slack_at_limit = 0;     // blocks whose slack is 64 KiB or more: counted as that
  uint64_t resizes = 0;            // blocks that realloc made of others
  uint64_t unlinked_reallocs = 0;  // blocks that realloc made of nothing, or of what was left out
  uint64_t pieces = 0;             // mappings that are what was left of others
  StatsPeak peak;
  Rates rates;
  std::array<SizeStats, kSizeClasses> sizes{};
  std::vector<ExactSize> exact_sizes;  // most frequent first
  uint64_t distinct_sizes = 0;
  bool all_sizes_counted = true;
  std::array<BlockCount, kCallKinds> calls{};
  std::array<BlockCount, kAlignments> alignments{};  // by log2; 0: none was asked for
  std::vector<ThreadStats> threads;                  // by index; the last: unknown
  std::vector<GroupStats> groups;                    // by group
  ChainSums chains;
  std::vector<ChainSums> chain_rows;  // most copied bytes first
  std::vector<PageUse> pages;         // one for each moment
};

struct StatsRequest {
  const Matcher* matcher = nullptr;  // null: all heap blocks
  uint32_t temporary_within = 0;
  uint64_t large_bytes = 128 << 10;  // where glibc begins to map blocks of their own
  uint64_t short_ns = 10'000'000;
  std::vector<std::string> moments = {"peak", "end"};
  uint64_t pin_unit = 4096;
  size_t exact_sizes = 20;
  // What need not be known is not read.
  bool wants_chains = true;
  bool wants_counts = true;
  // Gets the blocks that are live at each of the moments, sorted by address; may be empty.
  std::function<void(size_t moment, std::vector<PlacedBlock> blocks)> take_blocks = {};
};

}  // namespace heapgauge::trace
