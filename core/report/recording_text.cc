#include "core/report/recording_text.h"

#include <fmt/format.h>

#include <cstring>
#include <ctime>

#include "core/base/text.h"
#include "core/fold/statistics.h"
#include "core/report/value_text.h"

namespace heapgauge {
namespace {

StyledText Line(const char* label, const std::string& text, Style style = Style::kPlain) {
  constexpr size_t kWidth = 11;
  StyledText line;
  line.AddRight(label, kWidth, Style::kLabel);
  if (std::string_view(label).size() >= kWidth) line.Add(" ");
  return line.Add(text, style).Add("\n");
}

StyledText Note(const std::string& text) {
  return StyledText("note: ", Style::kWarning).Add(text).Add("\n");
}

std::string SamplingText(const RecordingFacts& r) {
  if (r.traced && r.samples == 0) return "none: every call goes into its trace (run --trace)";
  if (r.trace_given_up && r.samples == 0) {
    return "none: every call went into its trace, until its recorder was gone";
  }
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
  if (r.lost.empty()) text += ", none lost";
  if (!r.active) text += "; switched off";
  return text;
}

std::string LostText(const RecordingFacts& r) {
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

std::string AgentText(const RecordingFacts& r) {
  return fmt::format(
      "{} ({} gauge file, {} private)",
      FormatBytes(static_cast<double>(r.file_bytes) + static_cast<double>(r.private_bytes)),
      FormatBytes(static_cast<double>(r.file_bytes)),
      FormatBytes(static_cast<double>(r.private_bytes)));
}

// Which allocator the program has.
std::string OverText(const RecordingFacts& r) {
  if (r.allocator.empty() && r.allocator_path.empty()) return "";
  return " over " + (r.allocator.empty() ? "an unknown allocator" : r.allocator) + "  " +
         r.allocator_path;
}

}  // namespace

Estimate OrNothingSampled(const Estimate& estimate, const RecordingFacts& recording) {
  if (estimate.value > 0 || recording.interval_in_force <= 1) return estimate;
  return NothingSampled(static_cast<double>(recording.interval_in_force));
}

std::string StateText(const RecordingFacts& r) {
  if (r.others != 0) {
    return fmt::format("and {} more, added up", FormatCount(static_cast<double>(r.others)));
  }
  const std::string time = FormatDuration(r.lived_ns());
  std::string forked;
  if (r.began_ns() != 0) {
    forked = ", forked at " + FormatDuration(r.began_ns());
  } else if (r.forked) {
    forked = ", forked";
  }
  switch (r.state) {
    case RecordingState::kLive:
      return (r.exact ? "being written, " + time + " so far" : "running for " + time) + forked;
    case RecordingState::kEnded:
      return "ended after " + time + forked;
    case RecordingState::kKilled:
      return "killed after " + time + forked;
    case RecordingState::kGone:
      return "ended without telling after " + time + forked;
    case RecordingState::kReplaced:
      return "executed another program after " + time + forked;
    case RecordingState::kSnapshot:
      // Of a trace its recorder was stopped, or it was copied while it grew.
      return r.exact ? "recorded up to " + FormatDuration(r.duration_ns) + ", the program went on"
                     : "a copy made at " + FormatDuration(r.duration_ns);
    case RecordingState::kUnknown:
      break;
  }
  return time + " recorded";
}

std::string SelectionText(const RecordingFacts& r) {
  return r.filter.empty() ? r.moment : r.moment + "; " + r.filter;
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

std::string DumpText(const RecordingFacts& r) {
  const DumpFacts& d = r.dump;
  if (r.is_dump) {
    return fmt::format("snapshot taken at {} {}", FormatDuration(d.time_ns), WhyDumped(d));
  }
  if (d.failures == 0) return "";
  const int error = d.last_error < 4096 ? static_cast<int>(d.last_error) : 0;
  return fmt::format("{} {} could not be written: {}", d.failures,
                     d.failures == 1 ? "dump" : "dumps", std::strerror(error));
}

std::string LiveText(const Estimate& live, const RecordingFacts& recording) {
  if (recording.exact) return FormatBytes(live.value);
  const Interval range = Interval95(OrNothingSampled(live, recording));
  return fmt::format("{} (95 %: {})", FormatBytes(live.value),
                     FormatByteRange(range.low, range.high));
}

bool IsRecorded(const RecordingFacts& r) { return r.pid != 0; }

namespace {

std::string TimeText(int64_t unix_ns) {
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::tm utc{};
  if (gmtime_r(&seconds, &utc) == nullptr) return "";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

// A figure with its range, if there is one.
std::string SumText(const Estimate& sum, const std::string& unit) {
  std::string text = FormatValue(sum.value, unit);
  const Interval range = Interval95(sum);
  if (sum.variance > 0) text += " (95 %: " + FormatValueRange(range.low, range.high, unit) + ")";
  return text;
}

// Of profiles that other tools wrote.
StyledText ForeignText(const Profile& profile, const HeapFigures& total, const Layout& layout) {
  const Measures m = MeasuresOf(profile);
  const std::string program =
      profile.modules.empty() ? "" : std::string(BaseName(profile.modules[0].path));
  StyledText text(program.empty() ? "a profile" : Printable(program), Style::kTitle);
  if (profile.recording.others != 0) text += "  " + StateText(profile.recording);
  if (profile.time_ns != 0) text += "  taken " + TimeText(profile.time_ns);
  if (profile.duration_ns > 0) {
    text += "  over " + FormatDuration(static_cast<uint64_t>(profile.duration_ns));
  }
  text += "\n";
  std::string main = SumText(total.live_bytes, m.unit);
  if (m.has_objects()) main += fmt::format(", {} objects", FormatCount(total.live_objects));
  text += Line(m.is_memory && m.unit == "bytes" ? m.name.c_str() : "total", main);
  if (m.has_allocated()) {
    text +=
        Line("allocated", SumText(total.allocated_bytes, "bytes") +
                              fmt::format(" in {} objects", FormatCount(total.allocated_objects)));
  }
  if (!profile.sample_types.empty()) {
    const SampleType& shown = profile.sample_types[profile.DefaultType()];
    std::string types = shown.name + " in " + shown.unit;
    const char* separator = "; --type: ";
    for (const SampleType& type : profile.sample_types) {
      if (&type == &shown) continue;
      types += separator + type.name;
      separator = ", ";
    }
    text += Line("type", CutTo(Printable(types), std::max<size_t>(layout.width, 31) - 11));
  }
  if (profile.period > 1) {
    text +=
        Line("period",
             fmt::format("{} {}",
                         FormatValue(static_cast<double>(profile.period), profile.period_type.unit),
                         Printable(profile.period_type.name)));
  }
  constexpr size_t kMaxComments = 3;
  for (size_t i = 0; i < profile.comments.size() && i < kMaxComments; ++i) {
    text += Line(i == 0 ? "comment" : "",
                 CutTo(Printable(profile.comments[i]), std::max<size_t>(layout.width, 31) - 11));
  }
  return text;
}

std::string BlocksText(const Profile& profile, size_t bytes, size_t blocks, const Measures& m) {
  const double value = profile.Total(bytes).value;
  const std::string text =
      bytes == m.main ? FormatMain(value, m) : FormatValue(value, profile.sample_types[bytes].unit);
  const double count = profile.Total(blocks).value;
  return fmt::format("{} in {} {}", text,
                     bytes == m.main ? FormatMainCount(count, m) : FormatCount(count),
                     count == 1 ? "block" : "blocks");
}

// Functions are not found, and callers not named, in the part of a stack that is missing.
StyledText CutNote(const RecordingFacts& r) {
  if (r.truncated_walks == 0) return {};
  return Note(std::string(r.exact ? "stacks" : "samples") +
              " without their outermost frames (no unwind data, or too deep): " +
              FormatCount(static_cast<double>(r.truncated_walks)));
}

// Of exact traces: nothing is estimated, and it is about a certain time.
StyledText TraceText(const Profile& profile, const Layout& layout) {
  const RecordingFacts& r = profile.recording;
  const Measures m = MeasuresOf(profile);
  const size_t room = std::max<size_t>(layout.width, 31) - 11;
  StyledText text = Line("time", r.moment);
  if (!r.filter.empty()) text += Line("filter", CutTo(r.filter, room));
  if (profile.sample_types.size() == kHeapTypes + 2) {
    Measures of_bytes = m;
    of_bytes.main = kHeapTypes + 1;
    of_bytes.unit = profile.sample_types[of_bytes.main].unit;
    text += Line(m.name.c_str(), BlocksText(profile, kHeapTypes + 1, kHeapTypes, of_bytes));
  }
  if (profile.sample_types.size() >= kHeapTypes) {
    std::string live = BlocksText(profile, kInuseSpace, kInuseObjects, m);
    // The peak is that of all blocks.
    if (r.has_peak && !r.is_peak && r.filter.empty()) {
      live += fmt::format("; peak {} at {}", FormatBytes(static_cast<double>(r.peak_bytes)),
                          FormatDuration(r.peak_ns));
    }
    text += Line("live", live);
    text += Line("allocated", BlocksText(profile, kAllocSpace, kAllocObjects, m));
  }
  std::string trace = fmt::format(
      fmt::runtime(r.has_gaps       ? "not every allocation and free; {} allocations are in it"
                   : r.samples == 0 ? "no allocation: the program made none, or none was seen"
                                    : "every allocation and free, {} allocations in all"),
      FormatCount(static_cast<double>(r.samples)));
  if (!r.allocator.empty()) trace += ", over " + r.allocator;
  return text.Add(Line("trace", trace)).Add(CutNote(r));
}

StyledText Notes(const std::vector<std::string>& notes) {
  StyledText text;
  constexpr size_t kMaxNotes = 5;
  for (size_t i = 0; i < notes.size() && i < kMaxNotes; ++i) text += Note(notes[i]);
  if (notes.size() > kMaxNotes) {
    text += Note(fmt::format("and {} more", notes.size() - kMaxNotes));
  }
  return text;
}

}  // namespace

const char* NothingText(const RecordingFacts& recording) {
  if (!recording.exact) return "No samples.\n";
  return recording.samples == 0 ? "Nothing was allocated.\n"
                                : "No block: the moment, range or filter leaves nothing.\n";
}

StyledText RecordingText(const Profile& profile, const HeapFigures& total,
                         const std::vector<std::string>& notes, const Layout& layout) {
  const RecordingFacts& r = profile.recording;
  if (!IsRecorded(r) && !r.exact) return ForeignText(profile, total, layout).Add(Notes(notes));
  std::string command = r.command();
  if (command.empty()) command = r.program;
  StyledText text(r.name(), Style::kTitle);
  if (IsRecorded(r)) text += fmt::format("  pid {}", r.pid);
  text += "  " + StateText(r);
  // The command line is seldom news; it takes what room is left.
  const size_t used = DisplayWidth(text.text()) + 2;
  if (r.others == 0 && command != r.name() && used + 16 <= layout.width) {
    text.Add("  ").Add(CutTo(command, layout.width - used), Style::kDim);
  }
  text += "\n";
  if (const std::string dump = DumpText(r); !dump.empty()) text += Line("dump", dump);

  if (r.exact) return text.Add(TraceText(profile, layout)).Add(Notes(notes));

  HeapFigures now = total;
  if (const Measures m = MeasuresOf(profile); m.name == "freed") {
    // Figures are about another thing; what is live is told all the same.
    text +=
        Line("freed",
             SumText(profile.Total(profile.FindType("freed_space")), "bytes") +
                 fmt::format(" in about {} objects",
                             FormatCount(profile.Total(profile.FindType("freed_objects")).value)));
    now.live_bytes = profile.Total(kInuseSpace);
    now.live_objects = profile.Total(kInuseObjects).value;
    now.allocated_bytes = profile.Total(kAllocSpace);
    now.allocated_objects = profile.Total(kAllocObjects).value;
  }
  std::string live = LiveText(now.live_bytes, r);
  live += fmt::format(", about {} objects", FormatCount(now.live_objects));
  if (r.is_peak) {
    live += fmt::format("; this is the peak at {}", FormatDuration(r.peak_ns));
  } else if (r.has_peak && r.peak_bytes > 0 &&
             now.live_bytes.value > static_cast<double>(r.peak_bytes)) {
    live += "; never more before";  // the agent notes a peak when it has passed
  } else if (r.has_peak && r.peak_bytes > 0) {
    live += fmt::format("; peak {} at {}", FormatBytes(static_cast<double>(r.peak_bytes)),
                        FormatDuration(r.peak_ns));
  }
  text += Line("live", live);

  if (!r.memory.empty() && !r.is_peak) {
    text += Line("RSS", r.memory + fmt::format(" (heapgauge memory {})", r.pid));
  }

  const Interval allocated = Interval95(now.allocated_bytes);
  std::string allocated_text =
      FormatBytes(now.allocated_bytes.value) + " " +
      FormatPlusMinus(now.allocated_bytes.value, allocated.low, allocated.high);
  if (allocated_text.back() == ' ') allocated_text.pop_back();
  allocated_text += fmt::format(" in about {} objects", FormatCount(now.allocated_objects));
  if (r.reset_ns != 0) {
    allocated_text += fmt::format(", since the reset at {}", FormatDuration(r.reset_ns));
  }
  text += Line("allocated", allocated_text);

  if (r.interval != 0) {
    text += Line("sampling", SamplingText(r));
    if (!r.lost.empty()) text += Line("lost", LostText(r), Style::kWarning);
    if (r.lost_mappings != 0) {
      text += Line("lost",
                   FormatCount(static_cast<double>(r.lost_mappings)) +
                       " calls of mmap or munmap: more ranges at a time than the table holds",
                   Style::kWarning);
    }
    std::string agent = AgentText(r) + OverText(r);
    // The path is the part that can be done without.
    if (DisplayWidth(agent) + 11 > layout.width) {
      agent.resize(agent.size() - r.allocator_path.size());
      while (agent.back() == ' ') agent.pop_back();
    }
    text += Line("agent", agent);
  } else if (!OverText(r).empty()) {
    text += Line("allocator", r.allocator + "  " + r.allocator_path);
  }
  text += CutNote(r);
  if (r.unreadable_records != 0) {
    text += Note(FormatCount(static_cast<double>(r.unreadable_records)) +
                 " half-written or damaged records were left out or have no stack");
  }
  return text.Add(Notes(notes));
}

}  // namespace heapgauge
