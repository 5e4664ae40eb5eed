#include <algorithm>

#include "core/base/wrapping.h"
#include "core/voices/pprof/label_text.h"
#include "core/voices/pprof/legend.h"
#include "core/voices/pprof/nodes.h"
#include "core/voices/pprof/report_writers.h"
#include "core/voices/pprof/text_buffer.h"

namespace heapgauge::pprof {
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
