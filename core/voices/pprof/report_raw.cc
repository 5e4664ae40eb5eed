#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/voices/pprof/go_time.h"
#include "core/voices/pprof/label_text.h"
#include "core/voices/pprof/report_writers.h"
#include "core/voices/pprof/rewrite.h"
#include "core/voices/pprof/text_buffer.h"

namespace heapgauge::pprof {
namespace {

// "key:[a b] other:[c]"
std::string LabelsText(const Profile& profile, std::span<const heapgauge::Label> labels,
                       bool numbers) {
  std::vector<std::string> parts;
  for (const auto& [key, group] : GroupLabels(profile, labels, numbers)) {
    const bool units = std::any_of(group.begin(), group.end(),
                                   [](const heapgauge::Label* l) { return l->unit != kNone; });
    std::string part = std::string(key) + ":[";
    for (const heapgauge::Label* label : group) {
      if (label != group.front()) part += ' ';
      part += numbers ? std::to_string(label->number) : profile.strings[label->text];
      if (units) part += " " + (label->unit == kNone ? "" : profile.strings[label->unit]);
    }
    parts.push_back(part + "]");
  }
  std::sort(parts.begin(), parts.end());
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : " ") + part;
  return text;
}

void AppendHeader(const Profile& profile, std::string* text) {
  for (const std::string& comment : profile.comments) *text += "Comment: " + comment + "\n";
  *text += "PeriodType: " + profile.period_type.name + " " + profile.period_type.unit + "\n";
  *text += fmt::format("Period: {}\n", profile.period);
  if (profile.time_ns != 0) *text += "Time: " + GoTimeText(profile.time_ns) + "\n";
  if (profile.duration_ns != 0) {
    // pprof means four digits and gets four letters.
    *text += "Duration: ";
    *text += FirstCharacters(GoDurationText(profile.duration_ns), 4) + "\n";
  }
  *text += "Samples:\n";
  std::string types;
  for (size_t i = 0; i < profile.sample_types.size(); ++i) {
    const SampleType& type = profile.sample_types[i];
    types += (i == 0 ? "" : " ") + type.name + "/" + type.unit;
    if (i == profile.default_type) types += "[dflt]";
  }
  *text += types + "\n";
}

void AppendRow(const Profile& profile, RowId row, std::string* text) {
  const auto end = std::back_inserter(*text);
  for (size_t type = 0; type < profile.sample_types.size(); ++type) {
    fmt::format_to(end, " {:>10}", profile.value(row, type));
  }
  *text += ": ";
  for (NodeId node = profile.rows[row].leaf; node != kNone; node = profile.nodes[node].parent) {
    fmt::format_to(end, "{} ", profile.nodes[node].location + 1);
  }
  *text += '\n';
  for (const bool numbers : {false, true}) {
    const std::string labels = LabelsText(profile, profile.LabelsOf(row), numbers);
    if (!labels.empty()) *text += std::string(16, ' ') + labels + "\n";
  }
}

void AppendLocation(const Profile& profile, LocationId id, std::string* text) {
  const Location& location = profile.locations[id];
  std::string start = fmt::format("{:>6}: {:#x} ", id + 1, location.lookup_address());
  if (location.module != kNone) start += fmt::format("M={} ", location.module + 1);
  if (location.folded) start += "[F] ";
  if (location.frame_count == 0) *text += start + "\n";
  for (const Frame& frame : FramesOf(profile, location)) {
    *text += start;
    start.assign(13, ' ');
    if (frame.function == kNone) {
      *text += "??\n";
      continue;
    }
    const Function& function = profile.functions[frame.function];
    fmt::format_to(std::back_inserter(*text), "{} {}:{} s={}", function.name, function.file,
                   frame.line, function.start_line);
    if (function.no_system_name ||
        (!function.system_name.empty() && function.system_name != function.name)) {
      *text += "(" + function.system_name + ")";
    }
    *text += '\n';
  }
}

void AppendModule(const Profile& profile, ModuleId id, std::string* text) {
  const Module& module = profile.modules[id];
  fmt::format_to(std::back_inserter(*text), "{}: {:#x}/{:#x}/{:#x} {} {} {}{}{}{}\n", id + 1,
                 module.start, module.end, module.offset, module.path, module.build_id,
                 module.has_functions ? "[FN]" : "", module.has_files ? "[FL]" : "",
                 module.has_lines ? "[LN]" : "", module.has_inlines ? "[IN]" : "");
}

}  // namespace

Status WriteRaw(const ReportInput& input, TextSink* out) {
  const Profile& profile = input.profile;
  TextBuffer buffer(out);
  std::string& text = buffer.text();
  AppendHeader(profile, &text);
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    AppendRow(profile, row, &text);
    HG_TRY(buffer.FlushIfFull());
  }
  text += "Locations\n";
  for (LocationId id = 0; id < profile.locations.size(); ++id) {
    AppendLocation(profile, id, &text);
    HG_TRY(buffer.FlushIfFull());
  }
  text += "Mappings\n";
  for (ModuleId id = 0; id < profile.modules.size(); ++id) {
    AppendModule(profile, id, &text);
    HG_TRY(buffer.FlushIfFull());
  }
  return buffer.Flush();
}

}  // namespace heapgauge::pprof
