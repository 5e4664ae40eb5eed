#include "core/report/recording_text.h"

#include <fmt/format.h>

#include <cstring>

#include "core/analysis/interval.h"
#include "core/base/text.h"

namespace heapgauge {
namespace {

std::string Line(const char* label, const std::string& text) {
  return fmt::format("{:<11}{}\n", label, text);
}

std::string SamplingText(const Recording& r) {
  std::string text =
      r.interval <= 1 ? "every block" : "1 in " + FormatBytes(static_cast<double>(r.interval));
  if (r.interval_in_force > r.interval) {
    text += fmt::format(" ({} in force: capped at {} samples/s)",
                        FormatBytes(static_cast<double>(r.interval_in_force)),
                        r.max_samples_per_second);
  }
  text += fmt::format(", {} samples, {} live", FormatCount(static_cast<double>(r.samples)),
                      FormatCount(static_cast<double>(r.live_samples)));
  if (r.inherited_samples != 0) {
    text += fmt::format(" ({} inherited from the parent)",
                        FormatCount(static_cast<double>(r.inherited_samples)));
  }
  if (!r.active) text += "; switched off";
  return text;
}

std::string LostText(const Recording& r) {
  if (r.lost.empty()) return "nothing";
  std::string text = fmt::format("{} samples, about {} not in the figures (",
                                 FormatCount(static_cast<double>(r.lost_samples())),
                                 FormatBytes(static_cast<double>(r.lost_bytes)));
  const char* separator = "";
  for (const auto& [reason, count] : r.lost) {
    text += fmt::format("{}{} {}", separator, reason, FormatCount(static_cast<double>(count)));
    separator = ", ";
  }
  return text + ")";
}

std::string AgentText(const Recording& r) {
  return fmt::format(
      "{} ({} gauge file, {} private)",
      FormatBytes(static_cast<double>(r.file_bytes) + static_cast<double>(r.private_bytes)),
      FormatBytes(static_cast<double>(r.file_bytes)),
      FormatBytes(static_cast<double>(r.private_bytes)));
}

}  // namespace

Estimate OrNothingSampled(const Estimate& estimate, const Recording& recording) {
  if (estimate.value > 0 || recording.interval_in_force <= 1) return estimate;
  return NothingSampled(static_cast<double>(recording.interval_in_force));
}

std::string StateText(const Recording& r) {
  const std::string time = FormatDuration(r.duration_ns);
  switch (r.state) {
    case RecordingState::kLive:
      return "running for " + time;
    case RecordingState::kEnded:
      return "ended after " + time;
    case RecordingState::kKilled:
      return "killed after " + time;
    case RecordingState::kReplaced:
      return "executed another program after " + time;
    case RecordingState::kSnapshot:
      return "a copy made at " + time;
    case RecordingState::kUnknown:
      break;
  }
  return time + " recorded";
}

namespace {

std::string ShareText(uint64_t used, uint64_t limit, const char* of) {
  return fmt::format("{:.0f} % of the {} {}",
                     100 * static_cast<double>(used) / static_cast<double>(limit), of,
                     FormatBytes(static_cast<double>(limit)));
}

// What was nearest to its limit.
std::string NearestLimit(const DumpFacts& d) {
  const auto share = [](uint64_t used, uint64_t limit) {
    return limit == 0 ? -1 : static_cast<double>(used) / static_cast<double>(limit);
  };
  const double cgroup = share(d.cgroup_bytes, d.cgroup_limit);
  const double space = share(d.address_space_bytes, d.address_space_limit);
  if (cgroup < 0 && space < 0) {
    return FormatBytes(static_cast<double>(d.resident_bytes)) + " resident";
  }
  return cgroup >= space
             ? ShareText(d.cgroup_bytes, d.cgroup_limit, "cgroup limit")
             : ShareText(d.address_space_bytes, d.address_space_limit, "address space limit");
}

std::string WhyDumped(const DumpFacts& d) {
  if (d.reason == "request") return "on request";
  if (d.reason == "exit") return "because the program ended";
  if (d.reason == "allocated") return "because enough was allocated since the last one";
  if (d.reason == "growth") return "because live memory had grown";
  if (d.reason == "time") return "because its time had come";
  if (d.reason == "limit") return "because memory came near its limit (" + NearestLimit(d) + ")";
  return "for a reason that is not known here";
}

}  // namespace

std::string DumpText(const Recording& r) {
  const DumpFacts& d = r.dump;
  if (r.is_dump) {
    return fmt::format("snapshot taken at {} {}", FormatDuration(d.time_ns), WhyDumped(d));
  }
  if (d.failures == 0) return "";
  const int error = d.last_error < 4096 ? static_cast<int>(d.last_error) : 0;
  return fmt::format("{} {} could not be written: {}", d.failures,
                     d.failures == 1 ? "dump" : "dumps", std::strerror(error));
}

std::string LiveText(const Estimate& live, const Recording& recording) {
  const Interval range = Interval95(OrNothingSampled(live, recording));
  return fmt::format("{} (95 %: {})", FormatBytes(live.value),
                     FormatByteRange(range.low, range.high));
}

std::string RecordingText(const Profile& profile, const HeapFigures& total,
                          const std::vector<std::string>& notes, size_t width) {
  const Recording& r = profile.recording;
  std::string command;
  for (const std::string& argument : r.command_line) {
    if (!command.empty()) command += ' ';
    command += argument;
  }
  if (command.empty()) command = r.program;
  std::string text = fmt::format("{}  pid {}  {}{}\n", r.name(), r.pid, StateText(r),
                                 r.forked ? "  (forked)" : "");
  text += Line("command", CutTo(command, width > 11 ? width - 11 : 0));
  if (const std::string dump = DumpText(r); !dump.empty()) text += Line("dump", dump);

  std::string live = LiveText(total.live_bytes, r);
  live += fmt::format(", about {} objects", FormatCount(total.live_objects));
  if (r.is_peak) {
    live += fmt::format("; this is the peak at {}", FormatDuration(r.peak_ns));
  } else if (r.has_peak && r.peak_bytes > 0) {
    live += fmt::format("; peak {} at {}", FormatBytes(static_cast<double>(r.peak_bytes)),
                        FormatDuration(r.peak_ns));
  }
  text += Line("live", live);

  if (!r.memory.empty() && !r.is_peak) {
    text += Line("RSS", r.memory + fmt::format(" (heapgauge memory {})", r.pid));
  }

  const Interval allocated = Interval95(total.allocated_bytes);
  std::string allocated_text =
      FormatBytes(total.allocated_bytes.value) + " " +
      FormatPlusMinus(total.allocated_bytes.value, allocated.low, allocated.high);
  if (allocated_text.back() == ' ') allocated_text.pop_back();
  allocated_text += fmt::format(" in about {} objects", FormatCount(total.allocated_objects));
  if (r.reset_ns != 0) {
    allocated_text += fmt::format(", since the reset at {}", FormatDuration(r.reset_ns));
  }
  text += Line("allocated", allocated_text);

  if (!r.allocator.empty() || !r.allocator_path.empty()) {
    text += Line("allocator",
                 (r.allocator.empty() ? "unknown" : r.allocator) + "  " + r.allocator_path);
  }
  if (r.interval != 0) {
    text += Line("sampling", SamplingText(r));
    text += Line("lost", LostText(r));
    text += Line("agent", AgentText(r));
  }
  if (r.truncated_walks != 0) {
    text += fmt::format(
        "note: samples without their outermost frames (no unwind data, or too deep): {}\n",
        FormatCount(static_cast<double>(r.truncated_walks)));
  }
  if (r.unreadable_records != 0) {
    text += fmt::format("note: {} half-written or damaged records were left out or have no stack\n",
                        FormatCount(static_cast<double>(r.unreadable_records)));
  }
  constexpr size_t kMaxNotes = 5;
  for (size_t i = 0; i < notes.size() && i < kMaxNotes; ++i) text += "note: " + notes[i] + "\n";
  if (notes.size() > kMaxNotes) {
    text += fmt::format("note: and {} more modules without names\n", notes.size() - kMaxNotes);
  }
  return text;
}

}  // namespace heapgauge
