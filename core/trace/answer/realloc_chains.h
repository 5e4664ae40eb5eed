// Chains of blocks that realloc made of each other: how often a buffer grew, by how much each time,
// and how many bytes were copied for it. A chain begins with the block that was resized first and
// ends with the one that was freed, or is live at the end; it counts for whoever asked for the last
// one. With a filter, chains are of the resizes whose new block it leaves: where it does not, a
// chain ends, and may begin anew behind that.
//
// Fed with segments in order. Memory: one record for each chain that is not over.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/trace/answer/block_groups.h"
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

}  // namespace heapgauge::trace
