// Whether what a stack holds grows without bound, told from one look at the program. Most memory
// that production services lose is still reachable: a map that nobody clears, a queue that nobody
// drains. No pointer tells that; births and deaths do.
//
// What is known of a sampled program: how many samples a stack ever had and how many were freed,
// and when each of those that are still live was born. Samples are independent of each other and
// of what becomes of their blocks, so plain counting gives probabilities. The run is cut into four
// quarters; n1 to n4 are the live samples born in each, `freed` those that died.
//
//   1. Hardly anything dies (freed <= 10 % of what was taken). Then births are the history. If live
//      memory did not grow, a change would be a death as often as a birth, so
//      p = P(X >= born), X ~ binomial(born + freed, 1/2), where `born` is n3 + n4. All deaths count
//      as if they had happened within the window, which makes p larger, never smaller.
//   2. Much dies. Then the question is whether some of it never does. In a cache that has reached
//      its size the old are gone. The hardest case is one that throws out at random and has turned
//      over only three times (its level is then within 5 % of its limit): ages, as shares of the
//      run, have the density e^(-3 age). Of the live samples born after the first quarter, the mean
//      age is then 0.245 with a variance of 0.037 for each; growth makes it 0.375. p is the
//      probability of a mean that is as large, with a gamma distribution of these moments for the
//      sum, whose tail is a little heavier than the true one.
//      The first quarter is left out because of what is made at the start and kept. n3 and n4 must
//      not be too few beside n2 (0.02 %): growth that has ended is none. Nor may n1 be less than
//      half of the others while they are many: then it was filled only once, and the oldest have
//      begun to go.
//      Who works more at some times than at others has more births then; so all is also counted by
//      what the whole program allocated in place of time, and the larger p counts.
//   3. Of an exact trace the amount over time is known. The least that was live in each part of the
//      last half of the run must rise: p is from Mann and Kendall's test for trends, the rate from
//      Theil and Sen (the median of all slopes between two parts). Least amounts, because what
//      swings up and down but always comes back does not grow. Blocks born in the second, third and
//      fourth quarter must all be among the live ones.
//      Amounts that follow each other are much alike where things live long, so that chance makes
//      whole rises, and a cache rises while it is filled. So where much dies (more than 10 % of
//      all bytes) some of it must never do, as in 2: the live ones are too old for that cache, or
//      those of the second quarter too many beside those of the third, of which it keeps e^-0.75; p
//      is at least twice the smaller of both. Nor may the oldest be missing.
//
// What does not grow by these may have stopped. It has if less than a fiftieth of what is live is
// from the last quarter; else it only slows down, and nobody knows where it will end.
//
// Rates are the live bytes that were born in the window, over its length: the last half (1), the
// two middle quarters (2; younger ones may yet die). docs/leak-evidence.md tells it at length.
//
// Pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/fold/statistics.h"
#include "core/leaks/scan/known_blocks.h"
#include "core/leaks/verdict/run_clock.h"
#include "core/model/estimate.h"

namespace heapgauge::leaks {

enum class Trend : uint8_t {
  kUnknown,   // neither births nor sums are known
  kTooShort,  // the program has just started: everything grows
  kTooFew,    // samples to tell
  kUnclear,   // enough samples, but they do not decide
  kStopped,   // made at the start, or until some time ago; no more of it since
  kSlowing,   // more of it comes, but far less than at first: as a cache does that fills up
  kBounded,   // comes and goes: what is old is freed
  kGrowing,
};
const char* TrendName(Trend trend);  // "unknown", "too short", "too few", ...

struct GrowthEvidence {
  Trend trend = Trend::kUnknown;
  // How probable such births are if it does not grow. 1 where nothing was tested.
  double p = 1;
  // Of kGrowing.
  double bytes_per_second = 0;
  Interval bytes_per_second_95;
  Estimate grown;  // the bytes that the rate rests on

  double samples = 0;                // live ones
  double freed_share = -1;           // of the bytes ever allocated; -1 unknown
  std::array<double, 4> quarters{};  // live samples by the quarter of the run that they are from
  uint64_t oldest_ns = 0;            // age
  uint64_t median_age_ns = 0;        // half of the live bytes are older
};

struct GrowthLimits {
  double significance = 0.01;
  double fewest_samples = 8;
  uint64_t shortest_run_ns = 10'000'000'000;
};

// How sure a figure is that rests on one block, and what it stands for.
Estimate BytesOf(const KnownBlock& block);

// `blocks`: those of one stack, or of several that are to be judged together; `history`: the sum of
// theirs, null if it is not known.
GrowthEvidence JudgeGrowth(const std::vector<const KnownBlock*>& blocks,
                           const StackHistory* history, bool exact, const RunClock& clock,
                           const GrowthLimits& limits = {});

// Of the heap as a whole, by its timeline.
GrowthEvidence JudgeTimeline(const std::vector<TimelinePoint>& timeline, const RunClock& clock,
                             const GrowthLimits& limits = {});

}  // namespace heapgauge::leaks
