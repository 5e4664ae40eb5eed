#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/text.h"
#include "core/fold/statistics.h"
#include "core/report/views/leak_parts.h"
#include "core/report/views/leaks.h"

namespace heapgauge {
namespace {

using leaks::Amount;
using leaks::Check;
using leaks::LossRecord;
using leaks::LossRecords;

std::string ProgramName(const Check& check) {
  // The name it was started by; its executable may be called by another one.
  const std::string started = check.known.profile.recording.name();
  if (!started.empty()) return Printable(started);
  if (!check.executable.empty()) return Printable(BaseName(check.executable));
  return check.pid != 0 ? fmt::format("process {}", check.pid) : "the program";
}

// "no leak", "no leak but 800 blocks that are suppressed"
std::string NoLeakBut(const LossRecords& losses) {
  const uint64_t known = losses.suppressed.known;
  if (known == 0) return "no leak";
  if (known == losses.in_use.known) return "no leak but those that are suppressed";
  if (known == 1) return "no leak but a block that is suppressed";
  return fmt::format("no leak but {} blocks that are suppressed",
                     WithCommas(static_cast<double>(known)));
}

// "all 404 live blocks", "the one live block"; if there are others: "404 other live blocks"
std::string BlocksOf(const LossRecords& losses, uint64_t count, const char* what) {
  const bool all = count == losses.in_use.known;
  if (count == 1) return fmt::format("{} {} block", all ? "the one" : "one other", what);
  return fmt::format("{}{} {}{} blocks", all ? "all " : "", WithCommas(static_cast<double>(count)),
                     all ? "" : "other ", what);
}

// " (a leak below 236 kB may not show)"
std::string WhatMayNotShow(const Check& check) {
  const double unseen = UnseenLeakBytes(check);
  return unseen > 0 ? fmt::format(" (a leak below {} may not show)", FormatBytes(unseen)) : "";
}

// What can be said if none of the sampled blocks is lost.
std::string NoLossAmongSamples(const LeaksSubject& subject) {
  const uint64_t known = subject.losses->in_use.known;
  const uint64_t missing = subject.check->known.profile.recording.lost_samples();
  if (known == 0 && missing != 0) {
    return fmt::format(
        "nothing can be said; no live block is known, and {} {} missing (heapgauge doctor).",
        FormatCount(static_cast<double>(missing)), missing == 1 ? "sample is" : "samples are");
  }
  const std::string may_not_show = WhatMayNotShow(*subject.check);
  if (known == 0) return "no leak is known; no live block was sampled" + may_not_show + ".";
  const uint64_t rest = known - subject.losses->suppressed.known;
  if (rest == 0) return NoLeakBut(*subject.losses) + ".";
  const Amount& possible = subject.losses->of(leaks::Kind::kPossible);
  const std::string open =
      possible.known == 0
          ? ""
          : fmt::format(", {} in a way that leaves it open: {} possibly lost",
                        possible.known == rest
                            ? "but"
                            : WithCommas(static_cast<double>(possible.known)) + " of them",
                        LeakWords{false, {}}.Roughly(possible.bytes));
  return fmt::format("{}; {} {} pointed to{}{}.", NoLeakBut(*subject.losses),
                     BlocksOf(*subject.losses, rest, "sampled"), rest == 1 ? "is" : "are", open,
                     may_not_show);
}

// What it means that no lost record passes the filter.
const char* NothingPasses(LeakFilter filter) {
  return filter == LeakFilter::kNew         ? "nothing new is lost"
         : filter == LeakFilter::kIncreased ? "no more is lost"
                                            : "nothing has changed";
}

// What it means of records that they pass.
const char* HavePassed(LeakFilter filter, bool one) {
  return filter == LeakFilter::kNew ? (one ? "is new" : "are new")
         : filter == LeakFilter::kIncreased
             ? (one ? "is new or has grown" : "are new or have grown")
             : (one ? "has changed" : "have changed");
}

}  // namespace

double UnseenLeakBytes(const Check& check) {
  if (!check.known.sampled()) return 0;
  const RecordingFacts& recording = check.known.profile.recording;
  // The cap on samples raises the interval for a while; blocks tell what it was at their birth.
  uint64_t interval = std::max(recording.interval, recording.interval_in_force);
  for (const heapgauge::SampledBlock& block : check.known.profile.blocks) {
    interval = std::max(interval, block.interval);
  }
  if (interval <= 1) return 0;
  return Interval95(NothingSampled(static_cast<double>(interval))).high;
}

bool PassesFilter(const LeaksSubject& subject, LeakFilter filter, size_t record) {
  if (subject.changes == nullptr) return true;
  const leaks::LossChange& change = subject.changes->records[record];
  switch (filter) {
    case LeakFilter::kNew:
      return change.is_new;
    case LeakFilter::kIncreased:
      return change.is_new || change.increased();
    case LeakFilter::kChanged:
      return change.is_new || change.any();
    case LeakFilter::kAll:
      break;
  }
  return true;
}

LeakErrors CountLeakErrors(const LeaksSubject& subject, const LeaksOptions& options) {
  LeakErrors errors;
  if (subject.check->look == leaks::Look::kNone) return errors;
  for (size_t i = 0; i < subject.losses->records.size(); ++i) {
    const LossRecord& record = subject.losses->records[i];
    if (record.suppressed() || !leaks::Has(options.error_kinds, record.kind)) continue;
    if (!PassesFilter(subject, options.filter, i)) continue;
    ++errors.records;
    errors.blocks += record.own.blocks.value;
  }
  return errors;
}

namespace {

// What it means for the verdict that blocks are not known, as another sentence.
std::string Doubt(const Check& check) {
  const bool looked = check.look != leaks::Look::kNone;
  switch (check.known.gap) {
    case leaks::Gap::kEvents:
      return looked ? " Events are missing: what was freed unseen may count as lost, and what is "
                      "lost may not be known."
                    : " Events are missing: what was freed unseen may count as never freed, and as "
                      "growth; other blocks may not be known.";
    case leaks::Gap::kYoung:
      return " Young blocks are not known: a leak of the last moments does not show.";
    case leaks::Gap::kEnd:
      return fmt::format(" The trace breaks off at {}: what was freed later is not known.",
                         FormatDuration(check.known.now_ns));
    case leaks::Gap::kNone:
      break;
  }
  return "";
}

// But for what is in doubt.
std::string PlainVerdict(const LeaksSubject& subject, LeakFilter filter) {
  const Check& check = *subject.check;
  const LossRecords& losses = *subject.losses;
  const LeakWords words{!check.known.sampled(), {}};
  const std::string name = ProgramName(check);
  const std::string grows = LeakGrowthVerdict(subject);
  if (check.look == leaks::Look::kNone) {
    return name + (grows.empty() ? ": memory was not looked at, so no block can be called lost."
                                 : ": " + grows + "; whether it is lost is not known.");
  }
  if (losses.of(leaks::Kind::kDefinite).known != 0) {
    Amount lost = losses.of(leaks::Kind::kDefinite);
    lost.Add(losses.of(leaks::Kind::kIndirect));
    size_t places = 0;
    size_t changed = 0;    // of these: pass the filter
    size_t increased = 0;  // have grown
    uint64_t newest = UINT64_MAX;
    for (size_t i = 0; i < losses.records.size(); ++i) {
      const LossRecord& record = losses.records[i];
      if (record.kind != leaks::Kind::kDefinite || record.suppressed()) continue;
      ++places;
      changed += PassesFilter(subject, filter, i) ? 1 : 0;
      increased += subject.changes != nullptr && PassesFilter(subject, LeakFilter::kIncreased, i);
      newest = std::min(newest, leaks::NewestAge(check, record));
    }
    const std::string where =
        places == 1 ? "one place" : WithCommas(static_cast<double>(places)) + " places";
    if (changed == 0 && increased != 0) {
      const std::string at =
          increased == places
              ? where
              : fmt::format("{} of {}", WithCommas(static_cast<double>(increased)), where);
      return fmt::format("{}: {} since the earlier check, but more than before at {}; {} {} lost.",
                         name, NothingPasses(filter), at, words.Roughly(lost.bytes),
                         lost.known == 1 ? "is" : "are");
    }
    if (changed == 0) {
      return fmt::format("{}: {} since the earlier check; {} at {} {} lost as before.", name,
                         NothingPasses(filter), words.Roughly(lost.bytes), where,
                         lost.known == 1 ? "is" : "are");
    }
    std::string text = name + " leaks: ";
    if (check.known.sampled()) {
      text += fmt::format("{} lost at {}", words.Roughly(lost.bytes), where);
    } else if (lost.known == 1) {
      text += fmt::format("one block of {} is lost", words.Roughly(lost.bytes));
    } else {
      text += fmt::format("{} in {} blocks are lost, at {}", words.Roughly(lost.bytes),
                          FormatCount(lost.blocks.value), where);
    }
    if (changed != places) {
      text += fmt::format(" of which {} {} since the earlier check",
                          changed == 1 ? "one" : WithCommas(static_cast<double>(changed)),
                          HavePassed(filter, changed == 1));
    }
    if (!check.at_exit && newest != UINT64_MAX) {
      constexpr uint64_t kSecond = 1'000'000'000;
      text += newest < kSecond ? ", the last just now"
                               : ", the last " + FormatDuration(newest) + " ago";
    }
    return text + ".";
  }
  if (!grows.empty()) return name + ": nothing is definitely lost, but " + grows + ".";
  if (check.known.sampled()) return name + ": " + NoLossAmongSamples(subject);
  if (losses.of(leaks::Kind::kPossible).known != 0) {
    const Amount& possible = losses.of(leaks::Kind::kPossible);
    const std::string bytes = words.Roughly(possible.bytes);
    const std::string lost = possible.known == 1 ? fmt::format("one block of {} is", bytes)
                                                 : fmt::format("{} in {} blocks are", bytes,
                                                               FormatCount(possible.blocks.value));
    return fmt::format("{}: nothing is definitely lost; {} possibly lost.", name, lost);
  }
  if (losses.in_use.known == 0) {
    return name + (check.known.exact ? ": no leak; all blocks were freed."
                                     : ": no leak is known; there is no live block that is.");
  }
  if (losses.suppressed.known == losses.in_use.known) return name + ": " + NoLeakBut(losses) + ".";
  return fmt::format("{}: {}; {} can be reached ({}).", name, NoLeakBut(losses),
                     BlocksOf(losses, losses.of(leaks::Kind::kReachable).known,
                              check.known.exact ? "live" : "known live"),
                     words.Roughly(losses.of(leaks::Kind::kReachable).bytes));
}

}  // namespace

std::string LeakVerdict(const LeaksSubject& subject, LeakFilter filter) {
  return PlainVerdict(subject, filter) + Doubt(*subject.check);
}

}  // namespace heapgauge
