#include "core/leaks/verdict/growth_evidence.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/fold/statistics.h"

namespace heapgauge::leaks {
namespace {

using Quarters = std::array<double, 4>;

// Freed samples up to this share of all: births are the history.
constexpr double kHardlyAny = 0.1;
// Of ages with density e^(-3 age) between 0 and 3/4, see the header: with q = e^-2.25 the mean is
// 1/3 - 3/4 q / (1 - q), the variance 1/9 - 9/16 q / (1 - q)^2.
constexpr double kBoundedMeanAge = 0.24497;
constexpr double kBoundedAgeVariance = 0.03703;
// Of the live ones of such a cache that are from the two middle quarters, the share of the second:
// 1 / (1 + e^0.75).
constexpr double kBoundedSecondShare = 0.32082;
// From this share of freed bytes on, something comes and goes.
constexpr double kTurnsOver = 0.3;
// A quarter has too few births for growth to go on if even growth has as few so seldom. A grower is
// to be let off for that once in thousands of times.
constexpr double kTooFewLevel = 2e-4;
// The same for the oldest, where the other mistake is worse: a cache that has just been filled.
constexpr double kTooFewOldLevel = 0.01;
// A quarter of the run counts if so much of what is live was born in it.
constexpr double kPresentShare = 0.02;
constexpr size_t kTimelineParts = 16;

size_t QuarterOf(double share) {
  return std::min<size_t>(static_cast<size_t>(std::max(share, 0.0) * 4), 3);
}

double Sum(const Quarters& q) { return q[0] + q[1] + q[2] + q[3]; }

// The mean number of bytes between samples that the weight of a block tells; 0: it was certain.
double IntervalOf(const KnownBlock& block) {
  const double size = static_cast<double>(std::max<uint64_t>(block.size, 1));
  return block.weight > 1 + 1e-9 ? -size / std::log1p(-1 / block.weight) : 0;
}

// How much each block counts if all had been sampled at the largest of their intervals, in numbers
// of equal samples: where the interval changed, samples of the finer one are not worth as much.
std::vector<double> CountsOf(const std::vector<const KnownBlock*>& blocks) {
  double longest = 0;
  for (const KnownBlock* block : blocks) longest = std::max(longest, IntervalOf(*block));
  std::vector<double> counts(blocks.size(), 1);
  if (longest == 0) return counts;
  double sum = 0;
  double squares = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const double size = static_cast<double>(std::max<uint64_t>(blocks[i]->size, 1));
    counts[i] = std::min(1.0, -std::expm1(-size / longest) * blocks[i]->weight);
    sum += counts[i];
    squares += counts[i] * counts[i];
  }
  for (double& count : counts) count *= sum / squares;
  return counts;
}

// On one of the two clocks.
struct Births {
  Quarters counts{};
  std::array<Estimate, 4> bytes;
  double later = 0;      // samples after the first quarter
  double later_age = 0;  // sum of their ages
};

Births CountBirths(const std::vector<const KnownBlock*>& blocks, const RunClock& clock,
                   bool by_work) {
  Births births;
  const std::vector<double> counts = CountsOf(blocks);
  for (size_t i = 0; i < blocks.size(); ++i) {
    const uint64_t at = blocks[i]->birth_ns;
    // From before the run: inherited from the parent process.
    if (at < clock.from_ns()) continue;
    const double share = by_work ? clock.ByWork(at) : clock.ByTime(at);
    const size_t quarter = QuarterOf(share);
    births.counts[quarter] += counts[i];
    births.bytes[quarter].Add(BytesOf(*blocks[i]));
    if (quarter == 0) continue;
    births.later += counts[i];
    births.later_age += counts[i] * (1 - share);
  }
  return births;
}

void SetAges(const std::vector<const KnownBlock*>& blocks, const RunClock& clock,
             GrowthEvidence* evidence) {
  std::vector<std::pair<uint64_t, double>> ages;
  double whole = 0;
  for (const KnownBlock* block : blocks) {
    const double bytes = static_cast<double>(block->size) * block->weight;
    ages.emplace_back(clock.now_ns() - std::min(block->birth_ns, clock.now_ns()), bytes);
    whole += bytes;
  }
  std::sort(ages.begin(), ages.end());
  double younger = 0;
  for (const auto& [age, bytes] : ages) {
    if (younger <= whole / 2) evidence->median_age_ns = age;
    younger += bytes;
  }
  if (!ages.empty()) evidence->oldest_ns = ages.back().first;
}

void SetRate(const Estimate& grown, double seconds, GrowthEvidence* evidence) {
  const Interval range = Interval95(grown);
  evidence->grown = grown;
  evidence->bytes_per_second = grown.value / seconds;
  evidence->bytes_per_second_95 = {range.low / seconds, range.high / seconds};
}

Estimate Sum(const Estimate& a, const Estimate& b) {
  Estimate sum = a;
  sum.Add(b);
  return sum;
}

bool Ended(const Quarters& q) {
  const double all = Sum(q);
  return BinomialAtMost(q[3], all, 0.25) < kTooFewOldLevel ||
         BinomialAtMost(q[2] + q[3], all, 0.5) < kTooFewOldLevel;
}

// Of what has ended: nothing comes any more, or so little that a tenth of it is out of question.
bool Stopped(const Quarters& q) {
  const double all = Sum(q);
  return q[3] <= kPresentShare * all &&
         (q[3] == 0 || BinomialAtMost(q[3], all, 0.1) < kTooFewOldLevel);
}

// Births are the history: case 1 of the header.
bool GrowsByBirths(const Quarters& q, double freed, const GrowthLimits& limits, double* p) {
  const double born = q[2] + q[3];
  *p = BinomialAtLeast(born, born + freed, 0.5);
  return *p <= limits.significance && BinomialAtMost(q[3], born, 0.5) >= kTooFewLevel;
}

// How probable it is that the live ones of a cache are as old.
double AgesByChance(const Births& births) {
  if (births.later <= 0) return 1;
  constexpr double kShape = kBoundedMeanAge * kBoundedMeanAge / kBoundedAgeVariance;
  return 1 - GammaBelow(kShape * births.later, births.later_age * kShape / kBoundedMeanAge);
}

// Some of it never dies: case 2 of the header.
bool GrowsByTheOld(const Births& births, const GrowthLimits& limits, double* p) {
  const Quarters& q = births.counts;
  *p = std::max(*p, AgesByChance(births));
  if (births.later <= 0) return false;
  return *p <= limits.significance && BinomialAtMost(q[2], q[1] + q[2], 0.5) >= kTooFewLevel &&
         BinomialAtMost(q[3], births.later, 1.0 / 3) >= kTooFewLevel;
}

// The oldest are missing: what looks even has only been filled once.
bool LostItsOldest(const Quarters& q) {
  const double later = (q[1] + q[2] + q[3]) / 3;
  return q[0] < later / 2 && BinomialAtMost(q[0], Sum(q), 0.25) < kTooFewOldLevel;
}

void JudgeSampled(const Births& births, const Births& by_work, const StackHistory* history,
                  const RunClock& clock, const GrowthLimits& limits, GrowthEvidence* evidence) {
  const Quarters& q = births.counts;
  const double live = Sum(q);
  if (live < limits.fewest_samples) {
    evidence->trend = Trend::kTooFew;
    return;
  }
  const double seconds = static_cast<double>(clock.length_ns()) * 1e-9;
  const double freed = history != nullptr ? history->freed : 0;
  const bool hardly_any_freed = history != nullptr && freed <= kHardlyAny * (live + freed);
  if (hardly_any_freed) {
    if (GrowsByBirths(q, freed, limits, &evidence->p)) {
      evidence->trend = Trend::kGrowing;
      SetRate(Sum(births.bytes[2], births.bytes[3]), seconds / 2, evidence);
      return;
    }
  } else {
    evidence->p = 0;
    const bool grows_by_time = GrowsByTheOld(births, limits, &evidence->p);
    const bool grows_by_work = GrowsByTheOld(by_work, limits, &evidence->p);
    if (grows_by_time && grows_by_work && !LostItsOldest(by_work.counts)) {
      evidence->trend = Trend::kGrowing;
      SetRate(Sum(births.bytes[1], births.bytes[2]), seconds / 2, evidence);
      return;
    }
  }
  const bool turns_over = evidence->freed_share >= kTurnsOver;
  if (turns_over &&
      (BinomialAtMost(q[0] + q[1], live, 0.5) < kTooFewOldLevel || LostItsOldest(by_work.counts))) {
    evidence->trend = Trend::kBounded;
  } else if (Ended(q)) {
    evidence->trend = Stopped(q) ? Trend::kStopped : Trend::kSlowing;
  } else {
    evidence->trend = Trend::kUnclear;
  }
}

// The same two where all blocks are known. A cache at its size that has the same stack as what
// grows adds to the last quarter alone, and is not to hide it.
bool LostItsOldestOfExact(const Quarters& q) {
  return q[0] < (q[1] + q[2]) / 4 &&
         BinomialAtMost(q[0], q[0] + q[1] + q[2], 1.0 / 3) < kTooFewOldLevel;
}
double OldByChance(const Births& births) {
  const Quarters& q = births.counts;
  const double evenly = BinomialAtLeast(q[1], q[1] + q[2], kBoundedSecondShare);
  return std::min(1.0, 2 * std::min(AgesByChance(births), evenly));
}

std::vector<double> LastHalf(const std::vector<uint64_t>& parts) {
  return {parts.begin() + static_cast<std::ptrdiff_t>(parts.size() / 2), parts.end()};
}

// Whether the amount was the same for the last three quarters of the run.
bool StaysAsItIs(const std::vector<uint64_t>& parts) {
  constexpr double kMoreShare = 1.25;
  const auto begin = parts.begin() + static_cast<std::ptrdiff_t>(parts.size() / 4);
  const auto [least, most] = std::minmax_element(begin, parts.end());
  return static_cast<double>(*most) <= kMoreShare * static_cast<double>(*least);
}

// The amount over time is known: case 3 of the header.
void JudgeExact(const Births& births, const Births& by_work, const StackHistory& history,
                const RunClock& clock, const GrowthLimits& limits, GrowthEvidence* evidence) {
  Estimate live;
  for (const Estimate& bytes : births.bytes) live.Add(bytes);
  const auto present = [&](size_t quarter) {
    return births.bytes[quarter].value >= kPresentShare * live.value;
  };
  const Rise rise = RiseOf(LastHalf(history.least_live));
  evidence->p = rise.p;
  const bool much_dies = evidence->freed_share > kHardlyAny;
  if (much_dies) evidence->p = std::max({rise.p, OldByChance(births), OldByChance(by_work)});
  const bool filled_once = much_dies && LostItsOldestOfExact(by_work.counts);
  if (live.value > 0 && evidence->p <= limits.significance && rise.slope > 0 && present(1) &&
      present(2) && present(3) && !filled_once) {
    evidence->trend = Trend::kGrowing;
    const double per_second = static_cast<double>(history.least_live.size()) /
                              (static_cast<double>(clock.length_ns()) * 1e-9);
    evidence->bytes_per_second = rise.slope * per_second;
    evidence->bytes_per_second_95 = {rise.slope_95.low * per_second,
                                     rise.slope_95.high * per_second};
    evidence->grown = Sum(births.bytes[2], births.bytes[3]);
  } else if (evidence->samples < limits.fewest_samples && evidence->freed_share > 0 &&
             !StaysAsItIs(history.least_live)) {
    // A vector that grows frees each of its blocks but the last, and doubles ever more seldom.
    evidence->trend = Trend::kTooFew;
  } else if (evidence->freed_share >= kTurnsOver) {
    evidence->trend = Trend::kBounded;
  } else if (!present(3)) {
    evidence->trend = Trend::kStopped;
  } else {
    evidence->trend = Trend::kUnclear;
  }
}

}  // namespace

const char* TrendName(Trend trend) {
  switch (trend) {
    case Trend::kUnknown:
      return "unknown";
    case Trend::kTooShort:
      return "too short";
    case Trend::kTooFew:
      return "too few";
    case Trend::kUnclear:
      return "unclear";
    case Trend::kStopped:
      return "stopped";
    case Trend::kSlowing:
      return "slowing";
    case Trend::kBounded:
      return "bounded";
    case Trend::kGrowing:
      return "growing";
  }
  return "unknown";
}

Estimate BytesOf(const KnownBlock& block) {
  const double s = static_cast<double>(block.size);
  const double w = std::max(block.weight, 1.0);
  const double variance = s * s * w * (w - 1);
  return {s * w, variance, s * (w - 1), s, s * variance};
}

GrowthEvidence JudgeGrowth(const std::vector<const KnownBlock*>& blocks,
                           const StackHistory* history, bool exact, const RunClock& clock,
                           const GrowthLimits& limits) {
  GrowthEvidence evidence;
  SetAges(blocks, clock, &evidence);
  const Births births = CountBirths(blocks, clock, false);
  evidence.quarters = births.counts;
  evidence.samples = static_cast<double>(blocks.size());
  if (history != nullptr && history->allocated_bytes > 0) {
    evidence.freed_share = std::min(history->freed_bytes / history->allocated_bytes, 1.0);
  }
  const bool knows_amounts = history != nullptr && history->least_live.size() >= 8;
  if (exact && !knows_amounts) return evidence;
  if (clock.length_ns() < limits.shortest_run_ns) {
    evidence.trend = Trend::kTooShort;
  } else if (exact) {
    JudgeExact(births, CountBirths(blocks, clock, true), *history, clock, limits, &evidence);
  } else {
    JudgeSampled(births, CountBirths(blocks, clock, true), history, clock, limits, &evidence);
  }
  return evidence;
}

GrowthEvidence JudgeTimeline(const std::vector<TimelinePoint>& timeline, const RunClock& clock,
                             const GrowthLimits& limits) {
  GrowthEvidence evidence;
  std::vector<double> least;  // in each part of the last half
  size_t last_part = SIZE_MAX;
  for (const TimelinePoint& point : timeline) {
    if (point.time_ns < clock.from_ns() || point.time_ns > clock.now_ns()) continue;
    const double share = clock.ByTime(point.time_ns) * 2 - 1;
    if (share < 0) continue;
    const size_t part = std::min(static_cast<size_t>(share * kTimelineParts), kTimelineParts - 1);
    const double live = static_cast<double>(point.live_bytes);
    if (part != last_part) {
      least.push_back(live);
      last_part = part;
    } else {
      least.back() = std::min(least.back(), live);
    }
  }
  // Parts without a point would shift those behind them.
  if (least.size() < kTimelineParts - 2) return evidence;
  if (clock.length_ns() < limits.shortest_run_ns) {
    evidence.trend = Trend::kTooShort;
    return evidence;
  }
  const Rise rise = RiseOf(least);
  const double per_second = kTimelineParts / (static_cast<double>(clock.length_ns()) * 0.5e-9);
  evidence.p = rise.p;
  evidence.bytes_per_second = rise.slope * per_second;
  evidence.bytes_per_second_95 = {rise.slope_95.low * per_second, rise.slope_95.high * per_second};
  evidence.trend =
      rise.p <= limits.significance && rise.slope > 0 ? Trend::kGrowing : Trend::kUnclear;
  return evidence;
}

}  // namespace heapgauge::leaks
