// An allocation site that may leak, and why.
//
// Plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/fold/interval.h"
#include "core/leaks/verdict/growth_evidence.h"
#include "core/model/estimate.h"

namespace heapgauge::leaks {

inline constexpr size_t kAgeParts = 24;

struct Suspect {
  std::string function;          // as people read it, without parameters; "?" if nothing is known
  std::vector<uint32_t> stacks;  // of KnownBlocks::stacks, the one that holds most first
  std::string sentence;          // why, or why not; goes on from the function's name

  bool lost = false;  // some of it is
  bool grows = false;
  double score = 0;  // bytes

  Estimate live_bytes;
  uint64_t live_blocks = 0;  // that are known
  // Of a check that looked at memory.
  Estimate lost_bytes;  // definitely and indirectly
  uint64_t lost_blocks = 0;
  uint64_t possible_blocks = 0;
  Interval lost_share;          // of the blocks
  uint64_t oldest_lost_ns = 0;  // age
  GrowthEvidence growth;
  // The run in kAgeParts of equal length, the oldest first: the live bytes that were born in each,
  // and those of them that are lost.
  std::vector<double> born_bytes;
  std::vector<double> born_lost_bytes;
  // Of an exact trace: as StackHistory has it.
  std::vector<uint64_t> least_live;

  bool suspected() const { return lost || grows; }
  // "cache_insert holds 1.2 GB and grows ...".
  std::string Text() const { return function + " " + sentence; }
};

struct Suspects {
  std::vector<Suspect> suspects;  // worst first
  std::vector<Suspect> others;    // not suspected, the largest first
  // Of the heap as a whole, where its timeline is known.
  GrowthEvidence whole;
  std::string whole_sentence;  // "the heap as a whole grows 31 MB/min"; "" if it does not
  uint64_t run_ns = 0;         // how long the run is that ages are told of
};

}  // namespace heapgauge::leaks
