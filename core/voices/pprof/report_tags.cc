#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/wrapping.h"
#include "core/voices/pprof/legend.h"
#include "core/voices/pprof/report_writers.h"
#include "core/voices/pprof/text_buffer.h"

namespace heapgauge::pprof {
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

}  // namespace heapgauge::pprof
