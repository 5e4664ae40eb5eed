// The figures of a whole trace as data, with the chains of blocks that realloc made of each other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/fold/ages_and_sizes.h"
#include "core/trace/answer/block_groups.h"
#include "core/trace/answer/heap_layout.h"
#include "core/trace/answer/trace_filter.h"
#include "core/trace/file/segment.h"

namespace heapgauge::trace {

// Of one group, or of all.
struct ChainSums {
  uint32_t group = 0;
  uint64_t chains = 0;
  uint64_t resizes = 0;
  uint64_t growths = 0;       // of the resizes: to a larger size
  uint64_t moves = 0;         // of the resizes: to another address
  uint64_t copied_bytes = 0;  // by these moves, if the allocator copied them all
  uint64_t first_bytes = 0;   // sizes that the chains began with
  uint64_t last_bytes = 0;    // and ended with
  uint64_t longest = 0;       // most resizes of one chain
  uint64_t longest_first_bytes = 0;
  uint64_t longest_last_bytes = 0;
  double log_growth = 0;  // sum of ln(new / old) over growths that began above 0
  uint64_t logged_growths = 0;

  void Add(const ChainSums& other);
  // By what a growth multiplies the size, in the geometric mean; 0 if there was none.
  double growth_factor() const;
};

// Chains of blocks that realloc made of each other: how often a buffer grew, by how much each time,
// and how many bytes were copied for it. A chain begins with the block that was resized first and
// ends with the one that was freed, or is live at the end; it counts for whoever asked for the last
// one. With a filter, chains are of the resizes whose new block it leaves: where it does not, a
// chain ends, and may begin anew behind that.
//
// Fed with segments in order. Memory: one record for each chain that is not over.
class ReallocChains {
 public:
  // A null matcher means all heap blocks. Both must outlive this.
  ReallocChains(const BlockGroups& groups, const Matcher* matcher)
      : groups_(groups), matcher_(matcher) {}

  // Whether a segment has blocks that were made of others: each is born at the event at which the
  // other one dies.
  static bool HasAny(const SegmentInfo& info) {
    return uint64_t{info.births} + info.deaths != info.events;
  }
  // REQUIRES: segments in order, read with kOldBlocks, kNewBlocks, and kAddresses if there are any.
  void Add(const Segment& segment);
  void AddSurvivor(const Block& block) { End(block); }

  const ChainSums& total() const { return total_; }
  // Groups that have any, most copied bytes first.
  std::vector<ChainSums> Rows() const;

 private:
  // Of a block that was made of another one, until it dies: not before is it known whether it is
  // among those that are asked for.
  struct Open {
    ChainSums chain;  // up to the block before
    uint64_t old_bytes = 0;
    bool moved = false;
  };
  // REQUIRES: `old` is dead.
  void Link(const Block& old, const Block& block);
  void End(const Block& last);
  ChainSums TakeUpTo(const Block& block);
  void Count(ChainSums chain);

  const BlockGroups& groups_;
  const Matcher* matcher_;
  std::unordered_map<uint64_t, Open> open_;       // by the number of the last block so far
  std::unordered_map<uint32_t, ChainSums> rows_;  // by group
  ChainSums total_;
};

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

// The figures of a trace as reports show them, and what is requested of them.
//
// Plain data.
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
