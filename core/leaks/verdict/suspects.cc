#include "core/leaks/verdict/suspects.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "core/base/text.h"
#include "core/fold/statistics.h"
#include "core/leaks/verdict/stack_frames.h"

namespace heapgauge::leaks {

std::string EstimateText(const Estimate& bytes, bool utf8) {
  const Interval range = Interval95(bytes);
  std::string value = FormatBytes(bytes.value);
  const double half = (range.high - range.low) / 2;
  if (!(half >= bytes.value * 1e-3) || !(half > 0)) return value;
  if (half >= bytes.value) {
    return fmt::format("{} (95 %: {})", value, FormatByteRange(range.low, range.high));
  }
  const std::string unit = value.substr(value.find(' '));
  double scale = 1;
  for (const char* u : {" B", " kB", " MB", " GB", " TB", " PB", " EB"}) {
    if (unit == u) break;
    scale *= 1024;
  }
  const double scaled = half / scale;
  const std::string width =
      scale > 1 && scaled < 0.1
          ? FormatBytes(half)
          : fmt::format("{:.{}f}", scaled, scaled < 9.95 && scale > 1 ? 1 : 0);
  return fmt::format("{} {} {}", value, utf8 ? "\u00b1" : "+-", width);
}

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

namespace {

// A stack with as many samples is judged alone.
constexpr size_t kEnoughAlone = 24;
// Over all that are judged.
constexpr double kSignificanceOfAll = 0.05;

// Blocks that are judged together.
struct Unit {
  std::vector<uint32_t> stacks;
  std::vector<uint32_t> blocks;
  StackHistory history;
};

void AddHistory(const StackHistory& more, StackHistory* sum) {
  sum->taken += more.taken;
  sum->freed += more.freed;
  sum->allocated_bytes += more.allocated_bytes;
  sum->freed_bytes += more.freed_bytes;
  // The least of a sum is not less than the sum of the least.
  if (sum->least_live.size() < more.least_live.size()) {
    sum->least_live.resize(more.least_live.size());
  }
  for (size_t i = 0; i < more.least_live.size(); ++i) sum->least_live[i] += more.least_live[i];
}

void Append(const Unit& more, Unit* unit) {
  unit->stacks.insert(unit->stacks.end(), more.stacks.begin(), more.stacks.end());
  unit->blocks.insert(unit->blocks.end(), more.blocks.begin(), more.blocks.end());
  AddHistory(more.history, &unit->history);
}

struct Picture {
  bool lost = false;
  bool grows = false;
  bool Fits(const Suspect& s) const { return s.lost == lost && s.grows == grows; }
};
constexpr Picture kPictures[] = {{true, true}, {false, true}, {true, false}, {false, false}};

class Judging {
 public:
  Judging(const Check& check, const GrowthLimits& limits)
      : check_(check),
        known_(check.known),
        limits_(limits),
        clock_(check.known.profile, check.known.now_ns) {}

  Suspects Run() {
    MakeUnits();
    Suspects result;
    result.run_ns = clock_.length_ns();
    for (auto& [function, units] : functions_) {
      std::vector<Suspect> judged;
      for (const Unit& unit : units) judged.push_back(Judge(unit));
      if (units.size() > 1) Join(units, &judged);
      for (Suspect& suspect : judged) {
        suspect.function = function;
        suspect.sentence = SentenceOf(check_, suspect);
        (suspect.suspected() ? result.suspects : result.others).push_back(std::move(suspect));
      }
    }
    const auto by_bytes = [](const Suspect& a, const Suspect& b) {
      if (a.score != b.score) return a.score > b.score;
      if (a.live_bytes.value != b.live_bytes.value) return a.live_bytes.value > b.live_bytes.value;
      return a.function < b.function;
    };
    std::sort(result.suspects.begin(), result.suspects.end(), by_bytes);
    std::sort(result.others.begin(), result.others.end(), by_bytes);
    if (!check_.at_exit) {
      result.whole = JudgeTimeline(known_.profile.timeline, clock_, limits_);
      result.whole_sentence = SentenceOfWhole(result.whole);
    }
    return result;
  }

 private:
  void MakeUnits() {
    std::vector<std::vector<uint32_t>> of_stack(known_.stacks.size());
    for (uint32_t i = 0; i < known_.blocks.size(); ++i) {
      of_stack[known_.blocks[i].stack].push_back(i);
    }
    SiteNames names(known_.profile);
    std::vector<NodeId> leaves;
    for (size_t i = 0; i < of_stack.size(); ++i) {
      if (!of_stack[i].empty()) leaves.push_back(known_.stacks[i].leaf);
    }
    names.PassOverWrappers(leaves);
    std::map<NodeId, std::string> by_leaf;
    size_t units = 0;
    std::map<std::string, Unit> small;
    for (uint32_t stack = 0; stack < of_stack.size(); ++stack) {
      if (of_stack[stack].empty()) continue;
      const NodeId leaf = known_.stacks[stack].leaf;
      const auto [name, is_new] = by_leaf.try_emplace(leaf);
      if (is_new) name->second = names.Of(leaf);
      Unit alone;
      const bool enough = of_stack[stack].size() >= kEnoughAlone;
      Unit& unit = enough ? alone : small[name->second];
      unit.stacks.push_back(stack);
      unit.blocks.insert(unit.blocks.end(), of_stack[stack].begin(), of_stack[stack].end());
      if (!known_.histories.empty()) AddHistory(known_.histories[stack], &unit.history);
      if (enough) {
        functions_[name->second].push_back(std::move(alone));
        ++units;
      }
    }
    for (auto& [name, unit] : small) {
      if (static_cast<double>(unit.blocks.size()) >= limits_.fewest_samples) ++units;
      functions_[name].push_back(std::move(unit));
    }
    if (units > 0) {
      limits_.significance =
          std::min(limits_.significance, kSignificanceOfAll / static_cast<double>(units));
    }
  }

  size_t PartOf(const KnownBlock& block) const {
    const auto part = static_cast<size_t>(clock_.ByTime(block.birth_ns) * kAgeParts);
    return std::min(part, kAgeParts - 1);
  }

  Suspect Judge(const Unit& unit) const {
    Suspect s;
    s.stacks = unit.stacks;
    s.born_bytes.resize(kAgeParts);
    s.born_lost_bytes.resize(kAgeParts);
    s.least_live = unit.history.least_live;
    std::vector<const KnownBlock*> blocks;
    blocks.reserve(unit.blocks.size());
    for (const uint32_t index : unit.blocks) {
      const KnownBlock& block = known_.blocks[index];
      blocks.push_back(&block);
      const Estimate bytes = BytesOf(block);
      s.live_bytes.Add(bytes);
      ++s.live_blocks;
      const size_t part = PartOf(block);
      s.born_bytes[part] += bytes.value;
      if (check_.verdicts.empty()) continue;
      const Kind kind = check_.verdicts[index].kind;
      if (kind == Kind::kPossible) ++s.possible_blocks;
      if (kind != Kind::kDefinite && kind != Kind::kIndirect) continue;
      s.lost_bytes.Add(bytes);
      s.born_lost_bytes[part] += bytes.value;
      ++s.lost_blocks;
      const uint64_t birth = std::min(block.birth_ns, known_.now_ns);
      s.oldest_lost_ns = std::max(s.oldest_lost_ns, known_.now_ns - birth);
    }
    s.lost = s.lost_blocks > 0;
    s.lost_share =
        s.live_blocks == 0 || check_.verdicts.empty()
            ? Interval{0, 0}
            : Share95(static_cast<double>(s.lost_blocks), static_cast<double>(s.live_blocks));
    s.growth = JudgeGrowth(blocks, known_.histories.empty() ? nullptr : &unit.history,
                           !known_.sampled(), clock_, limits_);
    // At its end a program has what it made on its way; that is no trend.
    s.grows = s.growth.trend == Trend::kGrowing && !check_.at_exit;
    if (s.lost) s.score += Interval95(s.lost_bytes).low;
    if (s.grows) s.score += Interval95(s.growth.grown).low;
    SortStacks(unit, &s.stacks);
    return s;
  }

  void SortStacks(const Unit& unit, std::vector<uint32_t>* stacks) const {
    if (stacks->size() < 2) return;
    std::map<uint32_t, double> bytes;
    for (const uint32_t index : unit.blocks) {
      const KnownBlock& block = known_.blocks[index];
      bytes[block.stack] += static_cast<double>(block.size) * block.weight;
    }
    std::sort(stacks->begin(), stacks->end(), [&](uint32_t a, uint32_t b) {
      return bytes[a] != bytes[b] ? bytes[a] > bytes[b] : a < b;
    });
  }

  // Units of one function that give the same picture become one, if the whole gives it as well.
  // What has too few samples for a picture goes to the first.
  void Join(const std::vector<Unit>& units, std::vector<Suspect>* judged) const {
    std::vector<bool> done(units.size());
    std::vector<Suspect> joined;
    for (const Picture& picture : kPictures) {
      std::vector<size_t> fitting;
      size_t whole = 0;
      for (size_t i = 0; i < units.size(); ++i) {
        if (done[i]) continue;
        const Suspect& s = (*judged)[i];
        const bool fits = picture.Fits(s);
        whole += fits ? 1 : 0;
        if (fits || (!s.lost && s.growth.trend == Trend::kTooFew)) fitting.push_back(i);
      }
      if (whole == 0) continue;
      Unit all;
      for (const size_t i : fitting) Append(units[i], &all);
      Suspect together = Judge(all);
      if (picture.Fits(together)) {
        joined.push_back(std::move(together));
        for (const size_t i : fitting) done[i] = true;
      }
    }
    for (size_t i = 0; i < units.size(); ++i) {
      if (!done[i]) joined.push_back(std::move((*judged)[i]));
    }
    *judged = std::move(joined);
  }

  const Check& check_;
  const KnownBlocks& known_;
  GrowthLimits limits_;
  const RunClock clock_;
  std::map<std::string, std::vector<Unit>> functions_;
};

}  // namespace

Suspects FindSuspects(const Check& check, const GrowthLimits& limits) {
  return Judging(check, limits).Run();
}

}  // namespace heapgauge::leaks
