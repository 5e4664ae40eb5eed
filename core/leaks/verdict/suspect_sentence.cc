#include "core/leaks/verdict/suspect_sentence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/text.h"
#include "core/leaks/verdict/estimate_text.h"

namespace heapgauge::leaks {
namespace {

std::string Probability(double p) {
  return p < 0.001 ? "p < 0.001" : fmt::format("p = {:.{}f}", p, p < 0.01 ? 3 : 2);
}

std::string Blocks(const Check& check, uint64_t count) {
  return fmt::format("{}block{}", check.known.sampled() ? "sampled " : "", count == 1 ? "" : "s");
}

std::string Grows(const GrowthEvidence& growth) {
  return fmt::format("grows {} ({})", FormatRate(growth.bytes_per_second), Probability(growth.p));
}

std::string Freed(const GrowthEvidence& growth) {
  if (growth.freed_share < 0) return "";
  if (growth.freed_share == 0) return "; nothing of it was freed";
  if (growth.freed_share < 0.01) return "; hardly anything of it was freed";
  return fmt::format("; {:.0f}% of what it allocated was freed", growth.freed_share * 100);
}

std::string Reached(const Check& check, const Suspect& suspect) {
  if (check.verdicts.empty()) return "";
  if (suspect.possible_blocks == 0) return "; still reachable";
  const std::string some =
      suspect.possible_blocks == suspect.live_blocks
          ? std::string("all of it")
          : fmt::format("{} of {} {}", suspect.possible_blocks, suspect.live_blocks,
                        Blocks(check, suspect.live_blocks));
  if (check.known.exact) return fmt::format("; still reachable, {} only by the middle", some);
  return fmt::format(
      "; still pointed to, {} by {}", some,
      check.known.sampled() ? "blocks that were not sampled" : "memory that nobody knows");
}

std::string NotSuspected(const Check& check, const Suspect& suspect) {
  const GrowthEvidence& growth = suspect.growth;
  const double sum = std::accumulate(growth.quarters.begin(), growth.quarters.end(), 0.0);
  switch (growth.trend) {
    case Trend::kTooShort:
      return ": the run is too short to tell whether it grows";
    case Trend::kTooFew:
      return fmt::format(": too few {} to tell whether it grows ({})",
                         check.known.exact ? "blocks" : "samples", suspect.live_blocks);
    case Trend::kUnclear:
      return ": no clear trend";
    case Trend::kStopped:
      return fmt::format(" and has stopped growing: half of it is older than {}",
                         FormatDuration(growth.median_age_ns));
    case Trend::kSlowing:
      return fmt::format(
          " and grows ever more slowly: {:.0f}% of it is from the last quarter of the run, half is "
          "older than {}",
          100 * growth.quarters[3] / std::max(sum, 1.0), FormatDuration(growth.median_age_ns));
    case Trend::kBounded:
      return fmt::format(
          " and is bounded: {:.0f}% of what it allocated was freed, half of the rest is younger "
          "than {}",
          std::floor(growth.freed_share * 100), FormatDuration(growth.median_age_ns));
    case Trend::kGrowing:  // of a program that has ended
    case Trend::kUnknown:
      break;
  }
  return "";
}

}  // namespace

std::string FormatRate(double bytes_per_second) {
  struct Per {
    double seconds;
    const char* name;
  };
  // The shortest time in which a megabyte comes together.
  for (const Per& per : {Per{1, "s"}, Per{60, "min"}, Per{3600, "h"}}) {
    if (bytes_per_second * per.seconds >= 1e6) {
      return FormatBytes(bytes_per_second * per.seconds) + "/" + per.name;
    }
  }
  return FormatBytes(bytes_per_second * 86400) + "/d";
}

std::string SentenceOf(const Check& check, const Suspect& suspect) {
  if (suspect.lost) {
    std::string text =
        fmt::format("lost {}: no pointer leads to {} of {} {}", EstimateText(suspect.lost_bytes),
                    suspect.lost_blocks, suspect.live_blocks, Blocks(check, suspect.live_blocks));
    if (suspect.possible_blocks > 0 && !check.known.exact) {
      text += fmt::format(", and to {} more only from memory that nobody knows",
                          suspect.possible_blocks);
    }
    if (suspect.oldest_lost_ns > 0) text += ", oldest " + FormatDuration(suspect.oldest_lost_ns);
    if (suspect.grows) text += "; " + Grows(suspect.growth);
    return text;
  }
  const std::string holds = "holds " + EstimateText(suspect.live_bytes);
  if (!suspect.grows) return holds + NotSuspected(check, suspect);
  return holds + " and " + Grows(suspect.growth) + Freed(suspect.growth) + Reached(check, suspect);
}

std::string SentenceOfWhole(const GrowthEvidence& whole) {
  return whole.trend == Trend::kGrowing ? "the heap as a whole " + Grows(whole) : "";
}

}  // namespace heapgauge::leaks
