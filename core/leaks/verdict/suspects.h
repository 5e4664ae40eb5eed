// Who is to be looked at first: what is lost, and what grows, each with a sentence that says why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/fold/statistics.h"
#include "core/leaks/scan/check.h"
#include "core/leaks/verdict/growth_evidence.h"
#include "core/model/estimate.h"

namespace heapgauge::leaks {

// A sampled amount of memory in words, with how sure it is: the same in every sentence on leaks. A
// pure function.
//
// "310 MB ± 40", in the unit of the figure, or "1.8 GB ± 38.5 MB" where that would be 0; with both
// ends, "65.0 kB (95 %: 1.0-223 kB)", where the range is wider than the figure; without a range
// where it is narrower than a thousandth of it.
std::string EstimateText(const Estimate& bytes, bool utf8 = true);

inline constexpr size_t kAgeParts = 24;

// An allocation site that may leak, and why.
//
// Plain data.
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

// Says in one sentence why somebody is suspected of leaking, or why not. A pure function.
//
// Goes on from the function's name: "lost 310 MB ± 40: no pointer leads to 37 of 40 sampled
// blocks, oldest 2h10m", "holds 1.2 GB and grows 30 MB/min (p < 0.001); nothing of it was freed;
// still reachable".
std::string SentenceOf(const Check& check, const Suspect& suspect);

// "the heap as a whole grows 31 MB/min (p < 0.001)"; "" if it does not.
std::string SentenceOfWhole(const GrowthEvidence& whole);

// "30 MB/min": per second, minute, hour or day, as gives a figure that says something.
std::string FormatRate(double bytes_per_second);

// Who is to be looked at first: what is lost, and what grows though it is still reachable, in one
// list, each with a sentence that says why.
//
// Blocks are judged by stack; stacks that have too few samples of their own are judged together
// with others of the same function, which is the innermost one of the program itself (not the
// allocator, not the C or C++ library, nor a wrapper of malloc that several others call). Stacks of
// one function that give the same picture are one suspect.
//
// What is lost follows from the verdicts: definitely and indirectly lost blocks. The amount is the
// sum of what they stand for, with the interval that any sampled figure has
// (core/fold/statistics.h); the share of lost ones has the limits of Clopper and Pearson. Growth
// is told by growth_evidence.h, at a level of 5 % over all that are judged (each at 5 % divided by
// their number, and never above 1 %): one list in twenty may have one that is there by chance.
//
// The order is by bytes that are surely bad: the lower end of what is lost plus the lower end of
// what has grown. What is lost and still grows has both, and comes first.
//
// Names should be there already (the profile of the check symbolized); without them addresses are
// told apart. Pure functions; memory for the functions and one word for each block.
Suspects FindSuspects(const Check& check, const GrowthLimits& limits = {});

}  // namespace heapgauge::leaks
