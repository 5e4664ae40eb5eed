// Gathers GaugeFacts: the summary that ps and run show anyway, and what the header and the
// timeline say about the pace.

#include "core/doctor/gauge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/base/encode.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/fold/statistics.h"
#include "core/gauge/gauge_layout.h"
#include "core/os/process.h"
#include "core/report/recording_text.h"
#include "core/report/value_text.h"
#include "wire/gauge_format.h"

namespace heapgauge {
namespace {

// A pace of allocating is best told over a minute; whether a program still grows shows sooner.
constexpr uint64_t kPaceNs = 60'000'000'000;
constexpr uint64_t kGrowthNs = 10'000'000'000;

// The finest level of the timeline, as it is in the file.
std::vector<wire::TimelineRecord> ReadTicks(const File& file, const GaugeLayout& layout) {
  std::vector<wire::TimelineRecord> ticks;
  const auto offset = layout.SegmentOffset(wire::SegmentKind::kTimeline, 0);
  if (!offset) return ticks;
  const size_t stride = layout.record_bytes(wire::SegmentKind::kTimeline);
  std::vector<char> ring(stride * wire::kTimelineSlots);
  const size_t got = file.ReadAt(*offset, ring.data(), ring.size());
  for (size_t at = 0; at + sizeof(wire::TimelineRecord) <= got; at += stride) {
    wire::TimelineRecord record{};
    std::memcpy(&record, ring.data() + at, sizeof record);
    const bool is_whole = record.state != 0 && record.state % 2 == 0;
    if (is_whole && record.time_ns != 0) ticks.push_back(record);
  }
  return ticks;
}

// The oldest tick of the last `window_ns` before `now_ns`, but at least half a second old and not
// before a reset. Nothing if there is none.
const wire::TimelineRecord* TickWithin(const std::vector<wire::TimelineRecord>& ticks,
                                       uint64_t window_ns, uint64_t now_ns, uint64_t reset_ns) {
  const wire::TimelineRecord* best = nullptr;
  for (const wire::TimelineRecord& tick : ticks) {
    if (tick.time_ns <= reset_ns || tick.time_ns > now_ns) continue;
    const uint64_t age = now_ns - tick.time_ns;
    if (age > window_ns || age < 500'000'000) continue;
    if (best == nullptr || tick.time_ns < best->time_ns) best = &tick;
  }
  return best;
}

double Difference(uint64_t later, uint64_t earlier) {
  return static_cast<double>(later) - static_cast<double>(earlier);
}

// Does the user wait for the program to take something up? Not if it is only that a report has
// asked for the allocator's figures.
bool ChangePending(const wire::Header& header) {
  const wire::Control& control = header.control;
  if (control.generation == header.seen_generation) return false;
  return control.statistics_requests == header.statistics.requests ||
         (control.active != 0) != (header.active != 0) ||
         std::max<uint64_t>(control.interval, 1) != header.interval ||
         control.reset_requests != header.resets;
}

}  // namespace

Result<GaugeFacts> ReadGaugeFacts(const std::string& path, uint32_t running_as) {
  GaugeFacts facts;
  facts.path = path;
  HG_ASSIGN(facts.summary, ReadGaugeSummary(path));
  HG_ASSIGN(const File file, File::OpenForReading(path));
  HG_ASSIGN(const GaugeLayout layout, GaugeLayout::Read(file, path));
  const wire::Header& header = layout.header();
  facts.agent_version = FieldText(header.agent_version, sizeof header.agent_version);
  facts.change_pending = ChangePending(header);
  facts.asked_active = header.control.active != 0;
  facts.allocated_bytes = static_cast<double>(header.totals.allocated_bytes);

  RecordingFacts& r = facts.summary.recording;
  facts.control_name = std::to_string(r.pid);
  if (running_as != 0 && r.state != RecordingState::kLive) {
    r.state = RecordingState::kLive;
    const uint64_t clock = MonotonicNow();
    if (clock > header.start_monotonic_ns) r.duration_ns = clock - header.start_monotonic_ns;
  }
  if (running_as != 0 && r.pid != running_as) facts.control_name = path;
  const uint64_t now = r.duration_ns;
  // What a program allocates within its first moments is no pace that it keeps up.
  const uint64_t since = std::max(r.reset_ns, r.began_ns());
  const double whole = std::max(now > since ? Difference(now, since) / 1e9 : 0, 1.0);
  facts.allocated_per_second = facts.allocated_bytes / whole;
  // A forked process did not allocate what it inherited.
  facts.growth_per_second = std::min(facts.summary.live_bytes.value, facts.allocated_bytes) / whole;
  const std::vector<wire::TimelineRecord> ticks = ReadTicks(file, layout);
  if (const auto* past = TickWithin(ticks, kPaceNs, now, r.reset_ns);
      past != nullptr && past->allocated_bytes <= header.totals.allocated_bytes) {
    facts.allocated_per_second = Difference(header.totals.allocated_bytes, past->allocated_bytes) /
                                 (Difference(now, past->time_ns) / 1e9);
  }
  if (const auto* past = TickWithin(ticks, kGrowthNs, now, r.reset_ns); past != nullptr) {
    facts.growth_per_second = Difference(header.totals.live_bytes, past->live_bytes) /
                              (Difference(now, past->time_ns) / 1e9);
  }
  return facts;
}

namespace {

constexpr double kWantedWidth = 0.062;  // 1000 samples of small blocks
constexpr double kCoarseWidth = 0.10;   // 400 of them
constexpr uint64_t kSmallestInterval = 1024;
constexpr double kSoonSeconds = 600;
constexpr double kNothingSampledStep = 64;

// Half the width of the 95 % range of the live bytes, as a share; 1 if nothing was sampled.
double Width(const GaugeFacts& facts) {
  const Estimate& live = facts.summary.live_bytes;
  if (live.value <= 0) return 1;
  const Interval range = Interval95(live);
  return (range.high - range.low) / 2 / live.value;
}

bool IsLive(const GaugeFacts& facts) { return facts.recording().state == RecordingState::kLive; }

std::string Control(const GaugeFacts& facts, const std::string& words) {
  return fmt::format("heapgauge ctl {} {}", facts.control_name, words);
}

// How to get another interval: of a running program, or the next time.
std::string HowToSample(const GaugeFacts& facts, uint64_t interval) {
  const std::string size = SizeArgument(interval);
  return IsLive(facts) ? Control(facts, "sample " + size)
                       : fmt::format("next time: heapgauge run --sample {} -- {}", size,
                                     facts.recording().name());
}

// What is live already stays as coarse as it was sampled: of a running program that will not have
// replaced it soon, how to get that finer.
std::string ForTheRest(const GaugeFacts& facts, uint64_t interval) {
  if (!IsLive(facts) ||
      facts.allocated_per_second * kSoonSeconds >= facts.summary.live_bytes.value) {
    return "";
  }
  return fmt::format(
      ", for what it allocates from now on, which is little; for all: start it again "
      "by heapgauge run --sample {}",
      SizeArgument(interval));
}

std::string SamplesText(const RecordingFacts& r) {
  return fmt::format("{}, {} of them live, 1 in {}", figures::Counted(r.samples, "sample"),
                     FormatCount(static_cast<double>(r.live_samples)),
                     FormatBytes(static_cast<double>(r.interval_in_force)));
}

void CheckLosses(const GaugeFacts& facts, Findings* findings) {
  const RecordingFacts& r = facts.recording();
  uint64_t no_room = 0;
  uint64_t others = 0;
  std::string reasons;
  for (const auto& [reason, count] : r.lost) {
    (reason.rfind("no room", 0) == 0 ? no_room : others) += count;
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : ", ", reason,
                           FormatCount(static_cast<double>(count)));
  }
  const std::string about = FormatBytes(static_cast<double>(r.lost_bytes));
  if (no_room != 0) {
    Finding finding = Found(
        "no-growth",
        fmt::format("the gauge file could not grow: {} samples (about {}) are not in the "
                    "figures",
                    FormatCount(static_cast<double>(no_room)), about),
        fmt::format("{}; the file has {}", reasons, FormatBytes(static_cast<double>(r.file_bytes))),
        r.lacked_descriptors
            ? "the program had all its file descriptors in use: raise the limit (ulimit -n, "
              "LimitNOFILE=), and see what it has open: ls -l /proc/" +
                  std::to_string(r.pid) + "/fd"
            : "make room: df " + facts.path.substr(0, facts.path.rfind('/')) +
                  "; also look for RLIMIT_FSIZE, seccomp, a removed directory, a changed user");
    if (no_room < r.samples / 100) finding.severity = Severity::kWarning;
    findings->push_back(std::move(finding));
  }
  if (others != 0) {
    findings->push_back(Found(
        "lost-samples",
        fmt::format("{} samples were lost (about {} not in the figures)",
                    FormatCount(static_cast<double>(others)), about),
        reasons,
        "take fewer: " + HowToSample(facts, std::max<uint64_t>(4096, r.interval_in_force * 4))));
  }
}

// Seconds until the live figure rests on 400 samples, as the program grows now; nothing if it does
// not.
double SecondsUntilEnough(const GaugeFacts& facts) {
  if (facts.growth_per_second <= 0) return -1;
  const double wanted = 400.0 * static_cast<double>(facts.recording().interval_in_force);
  const double missing = wanted - facts.summary.live_bytes.value;
  return missing <= 0 ? 0 : missing / facts.growth_per_second;
}

void CheckAmount(const GaugeFacts& facts, Findings* findings) {
  const RecordingFacts& r = facts.recording();
  if (r.interval_in_force <= 1) return;  // every block is recorded
  const uint64_t better = BetterInterval(facts);
  const std::string live = LiveText(facts.summary.live_bytes, r);
  if (r.samples == 0 && r.live_samples == 0) {
    if (!r.active) return;
    findings->push_back(
        Found("no-samples",
              fmt::format("nothing was sampled so far: less than {} were allocated, or the "
                          "program's calls do not reach the agent",
                          FormatBytes(3.7 * static_cast<double>(r.interval_in_force))),
              fmt::format("0 samples in {}, 1 in {}", FormatDuration(r.duration_ns),
                          FormatBytes(static_cast<double>(r.interval_in_force))),
              better < r.interval_in_force ? HowToSample(facts, better) : ""));
    return;
  }
  const double width = Width(facts);
  if (width <= kCoarseWidth) return;
  const double seconds = SecondsUntilEnough(facts);
  if (IsLive(facts) && r.active && seconds >= 0 && seconds <= kSoonSeconds) {
    findings->push_back(Found(
        "few-samples",
        fmt::format("there are few samples yet: live is {}; at the present growth it is known to "
                    "10 % in about {}",
                    live, FormatDuration(static_cast<uint64_t>(seconds * 1e9))),
        SamplesText(r),
        better < r.interval_in_force ? "wait, or sample more: " + HowToSample(facts, better)
                                     : "wait"));
    return;
  }
  if (better >= r.interval_in_force) {
    Finding finding = Found(
        "too-coarse",
        fmt::format("live is {}, and a finer interval would pass the cap of {} samples a second",
                    live, r.max_samples_per_second),
        SamplesText(r) + "; it allocates " + FormatBytes(facts.allocated_per_second) + "/s",
        IsLive(facts) ? "if the cost does not matter: " + Control(facts, "max-rate 0")
                      : "next time: heapgauge run --max-rate 0 -- " + r.name());
    finding.severity = Severity::kHint;
    findings->push_back(std::move(finding));
    return;
  }
  findings->push_back(Found(
      "too-coarse",
      fmt::format("1 in {} is too coarse for this program: live is {}; 1 in {} would tell it to "
                  "about 6 %",
                  FormatBytes(static_cast<double>(r.interval_in_force)), live,
                  FormatBytes(static_cast<double>(better))),
      SamplesText(r) +
          fmt::format("; it allocates {}/s, which would be {} samples/s",
                      FormatBytes(facts.allocated_per_second),
                      FormatCount(facts.allocated_per_second / static_cast<double>(better))),
      HowToSample(facts, better) + ForTheRest(facts, better)));
}

void CheckState(const GaugeFacts& facts, Findings* findings) {
  const RecordingFacts& r = facts.recording();
  if (!IsLive(facts)) {
    findings->push_back(
        Found("program-gone",
              fmt::format("{} (pid {}) does not run any more: {}", r.name(), r.pid, StateText(r)),
              facts.path, "heapgauge top " + ShellWord(facts.path)));
  }
  if (r.traced) {
    findings->push_back(Found(
        "traced",
        "every call goes into a trace, and no samples are taken: what is "
        "live is told by the trace",
        "run --trace", fmt::format("heapgauge top {} reads its trace, while it grows too", r.pid)));
  } else if (r.trace_given_up) {
    findings->push_back(Found(
        "trace-given-up",
        "nothing is recorded any more: its calls went into a trace, and whoever recorded it is "
        "gone",
        "heapgauge run --trace was killed, stopped, or starved of the processor",
        "heapgauge top TRACE.hgt has what came before; start the program again for more"));
  } else if (!r.active) {
    Finding finding = Found(
        "sampling-off",
        facts.change_pending && facts.asked_active
            ? "sampling was switched on, but the program has not taken that up yet: it does so at "
              "its next allocation"
            : "sampling is switched off: nothing new is recorded",
        r.samples == 0 ? "it never took a sample; HEAPGAUGE_ACTIVE=0 or run --inactive"
                       : "it took " + FormatCount(static_cast<double>(r.samples)) +
                             " samples before; ctl disable",
        IsLive(facts) ? Control(facts, "enable") : "run it without --inactive");
    if (!IsLive(facts)) finding.severity = Severity::kWarning;
    findings->push_back(std::move(finding));
  } else if (facts.change_pending && IsLive(facts)) {
    findings->push_back(Found("change-pending",
                              "a change by ctl is not yet taken up: the program does so at its "
                              "next sample",
                              "the control words of " + facts.path, ""));
  }
}

}  // namespace

std::string SizeArgument(uint64_t bytes) {
  for (const auto& [shift, unit] : {std::pair{30, 'G'}, std::pair{20, 'M'}, std::pair{10, 'K'}}) {
    if (bytes >= uint64_t{1} << shift && bytes % (uint64_t{1} << shift) == 0) {
      return fmt::format("{}{}", bytes >> shift, unit);
    }
  }
  return std::to_string(bytes);
}

uint64_t BetterInterval(const GaugeFacts& facts) {
  const RecordingFacts& r = facts.recording();
  const uint64_t now = std::max<uint64_t>(r.interval_in_force, 1);
  const double width = Width(facts);
  double wanted = static_cast<double>(now) / kNothingSampledStep;
  // The variance goes with the interval, and so does the square of the width.
  if (facts.summary.live_bytes.value > 0) {
    wanted = static_cast<double>(now) * std::min(1.0, std::pow(kWantedWidth / width, 2));
  }
  if (r.max_samples_per_second != 0) {
    wanted = std::max(wanted, facts.allocated_per_second / r.max_samples_per_second);
  }
  uint64_t interval = kSmallestInterval;
  while (interval <= wire::kMaxIntervalBytes / 2 && static_cast<double>(interval * 2) <= wanted) {
    interval *= 2;
  }
  // Rounding down must not pass the cap.
  if (r.max_samples_per_second != 0 &&
      facts.allocated_per_second / static_cast<double>(interval) > r.max_samples_per_second) {
    interval *= 2;
  }
  return std::min(interval, now);
}

Findings CheckGauge(const GaugeFacts& facts, const std::string& command_version) {
  Findings findings;
  const RecordingFacts& r = facts.recording();
  CheckState(facts, &findings);
  CheckLosses(facts, &findings);
  CheckAmount(facts, &findings);
  if (r.interval_in_force > r.interval && r.active && IsLive(facts)) {
    findings.push_back(Found(
        "rate-capped",
        fmt::format("the program allocates faster than {} samples a second allow, so 1 in {} is "
                    "in force in place of 1 in {}; figures stay right, ranges are wider",
                    r.max_samples_per_second, FormatBytes(static_cast<double>(r.interval_in_force)),
                    FormatBytes(static_cast<double>(r.interval))),
        fmt::format("it allocates {}/s", FormatBytes(facts.allocated_per_second)),
        Control(facts, "max-rate 0") + ", if its cost does not matter"));
  }
  if (r.samples >= 100 && r.truncated_walks > r.samples / 5) {
    findings.push_back(Found("cut-stacks",
                             fmt::format("{} of the stacks lack their outermost frames",
                                         FormatShare(static_cast<double>(r.truncated_walks),
                                                     static_cast<double>(r.samples))),
                             "code without unwind tables (a JIT, hand-written assembly), or stacks "
                             "deeper than 512 frames",
                             "build with -fasynchronous-unwind-tables"));
  }
  if (!command_version.empty() && !facts.agent_version.empty() &&
      facts.agent_version != command_version) {
    findings.push_back(Found("agent-version",
                             fmt::format("the agent in the program is version {}, this command is "
                                         "{}",
                                         facts.agent_version, command_version),
                             facts.path,
                             "install both from one build and start the program again"));
  }
  SortFindings(&findings);
  const bool fine = std::all_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.severity >= Severity::kHint;
  });
  if (fine && !r.traced) {
    findings.push_back(
        Fine(fmt::format("live {}, {} allocated per second", LiveText(facts.summary.live_bytes, r),
                         FormatBytes(facts.allocated_per_second)),
             SamplesText(r)));
  }
  return findings;
}

std::string HealthOf(const Findings& findings) {
  for (const Finding& finding : findings) {
    for (const Cause& cause : Causes()) {
      if (finding.id == cause.id && cause.word[0] != 0) return cause.word;
    }
  }
  return "ok";
}

}  // namespace heapgauge
