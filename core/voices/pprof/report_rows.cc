// The reports that are made from rows: raw, tags, traces, comments.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/numbers.h"
#include "core/base/text.h"
#include "core/model/profile.h"
#include "core/voices/pprof/frame_filter.h"
#include "core/voices/pprof/legend.h"
#include "core/voices/pprof/measure.h"
#include "core/voices/pprof/nodes.h"
#include "core/voices/pprof/report.h"

namespace heapgauge::pprof {

// The labels of a row, grouped by key as pprof's reports print them.

// The labels of one key, in the order of the profile.
using LabelGroups = std::map<std::string_view, std::vector<const heapgauge::Label*>>;

// Those with a text, or those with a number. Refers to the profile.
inline LabelGroups GroupLabels(const Profile& profile, std::span<const heapgauge::Label> labels,
                               bool numbers) {
  LabelGroups groups;
  for (const heapgauge::Label& label : labels) {
    if (label.is_number() == numbers) groups[profile.strings[label.key]].push_back(&label);
  }
  return groups;
}

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
  return Join(parts);
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

namespace {

// What the rows with each value of each key weigh.
using TagSums = std::map<std::string_view, std::map<std::string, int64_t>>;

TagSums SumTags(const ReportInput& input) {
  const Profile& profile = input.profile;
  // Rows share their sets of labels, so numbers are written out once for each set.
  std::vector<int64_t> by_set(profile.label_sets.size());
  std::vector<RowId> row_of_set(profile.label_sets.size(), kNone);
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    const LabelSetId set = profile.rows[row].labels;
    if (set == kNone) continue;
    row_of_set[set] = row;
    by_set[set] = WrapAdd(by_set[set], profile.value(row, input.type));
  }
  TagSums sums;
  for (LabelSetId set = 0; set < by_set.size(); ++set) {
    if (row_of_set[set] == kNone) continue;
    for (const heapgauge::Label& label : profile.LabelsOf(row_of_set[set])) {
      const std::string& key = profile.strings[label.key];
      std::string value;
      if (label.is_number()) {
        const auto unit = input.label_units.find(key);
        value = ScaledLabel(label.number, unit == input.label_units.end() ? "" : unit->second,
                            input.config().unit);
      } else {
        value = profile.strings[label.text];
      }
      int64_t& sum = sums[key][value];
      sum = WrapAdd(sum, by_set[set]);
    }
  }
  return sums;
}

}  // namespace

// A table for each key, its columns flush right: key, weight, value.
Status WriteTags(const ReportInput& input, TextSink* out) {
  const ValueFormat format = FormatOf(input);
  const auto amount = [&](int64_t value) {
    const Scaled scaled = Scale(value, format.sample_unit(), format.output_unit());
    return fmt::format("{:.1f}{}", scaled.value, scaled.unit);
  };
  TextBuffer buffer(out);
  std::string& text = buffer.text();
  for (const auto& [key, sums] : SumTags(input)) {
    int64_t total = 0;
    std::vector<std::pair<std::string, int64_t>> tags(sums.begin(), sums.end());
    for (const auto& tag : tags) total = WrapAdd(total, tag.second);
    std::stable_sort(tags.begin(), tags.end(), [](const auto& a, const auto& b) {
      return a.second != b.second && Abs64(a.second) > Abs64(b.second);
    });
    std::vector<std::string> weights;
    size_t width = 0;
    for (const auto& tag : tags) {
      weights.push_back(amount(tag.second));
      if (total > 0) weights.back() += " (" + Percentage(tag.second, total) + ")";
      weights.back() += ':';
      width = std::max(width, CountCharacters(weights.back()) + 1);
    }
    text += ' ';
    text += key;
    text += ": Total " + amount(total) + "\n";
    for (size_t i = 0; i < tags.size(); ++i) {
      text.append(CountCharacters(key) + 2, ' ');
      AppendRight(weights[i], width, &text);
      text += " " + tags[i].first + "\n";
      HG_TRY(buffer.FlushIfFull());
    }
    text += '\n';
  }
  return buffer.Flush();
}

Status WriteComments(const ReportInput& input, TextSink* out) {
  for (const std::string& comment : input.profile.comments) HG_TRY(out->Write(comment + "\n"));
  return {};
}

namespace {

constexpr std::string_view kSeparator =
    "-----------+-------------------------------------------------------\n";
constexpr size_t kValueWidth = 10;

// The lines of each location, innermost frame first, all with room for a value at their start. They
// are the same in every trace, and there are far fewer locations than lines.
std::vector<std::string> LinesOfLocations(const ReportInput& input) {
  NodeOptions options = NodeOptionsOf(input.config());
  // Paths are shown as the profile has them, unlike in other reports.
  options.trim_paths = false;
  const NodeTable table(input.profile, options);
  std::vector<std::string> lines(input.profile.locations.size());
  for (LocationId id = 0; id < lines.size(); ++id) {
    const auto nodes = table.Of(id);
    for (size_t i = 0; i < nodes.size(); ++i) {
      lines[id].append(kValueWidth + 3, ' ');
      lines[id] += PrintableName(table[nodes[i]]);
      lines[id] += i + 1 < nodes.size() ? " (inline)\n" : "\n";
    }
  }
  return lines;
}

class LabelLines {
 public:
  explicit LabelLines(const ReportInput& input) : input_(input) {}

  // The lines of a row's labels. Most rows have those of the row before.
  const std::string& Of(RowId row) {
    const LabelSetId set = input_.profile.rows[row].labels;
    if (set != last_) {
      last_ = set;
      text_.clear();
      Add(row, false);
      Add(row, true);
    }
    return text_;
  }

 private:
  void Add(RowId row, bool numbers) {
    std::vector<std::string> lines;
    const Profile& profile = input_.profile;
    for (const auto& [key, labels] : GroupLabels(profile, profile.LabelsOf(row), numbers)) {
      std::string line;
      AppendRight(key, kValueWidth, &line);
      line += ": ";
      const auto unit = input_.label_units.find(key);
      for (const heapgauge::Label* label : labels) {
        line += ' ';
        if (numbers) {
          line += Label(label->number, unit == input_.label_units.end() ? "" : unit->second);
        } else {
          line += profile.strings[label->text];
        }
      }
      lines.push_back(line + "\n");
    }
    std::sort(lines.begin(), lines.end());
    for (const std::string& line : lines) text_ += line;
  }

  const ReportInput& input_;
  LabelSetId last_ = kNone;
  std::string text_;
};

}  // namespace

Status WriteTraces(const ReportInput& input, TextSink* out) {
  const Profile& profile = input.profile;
  const ValueFormat format = FormatOf(input);
  const std::vector<std::string> lines = LinesOfLocations(input);
  LabelLines labels(input);
  TextBuffer buffer(out);
  std::string& text = buffer.text();
  text = JoinLines(ProfileLabels(input, format));
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    NodeId node = profile.rows[row].leaf;
    if (node == kNone) continue;
    text += kSeparator;
    text += labels.Of(row);
    int64_t value = profile.value(row, input.type);
    if (input.config().mean) value = MeanOf(value, profile.value(row, 0));
    AppendRight(format(value), kValueWidth, &text);
    text.append(lines[profile.nodes[node].location], kValueWidth);
    for (node = profile.nodes[node].parent; node != kNone; node = profile.nodes[node].parent) {
      text += lines[profile.nodes[node].location];
      HG_TRY(buffer.FlushIfFull());
    }
    HG_TRY(buffer.FlushIfFull());
  }
  text += kSeparator;
  return buffer.Flush();
}

}  // namespace heapgauge::pprof
