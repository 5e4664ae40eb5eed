#include "core/model/label_rows.h"

#include <string>

namespace heapgauge {

void LabelAllRows(std::string_view key, std::string_view text, Profile* profile) {
  Label added;
  added.key = static_cast<StringId>(profile->strings.size());
  added.text = added.key + 1;
  profile->strings.emplace_back(key);
  profile->strings.emplace_back(text);

  // Every set of labels is written again with the new one in its place.
  std::vector<Label> labels;
  std::vector<LabelSet> sets = profile->label_sets;
  sets.emplace_back();  // of rows without labels
  for (LabelSet& set : sets) {
    const LabelSet old = set;
    set.first = static_cast<uint32_t>(labels.size());
    bool placed = false;
    for (uint32_t i = old.first; i < old.first + old.count; ++i) {
      const Label& label = profile->labels[i];
      const std::string& name = profile->strings[label.key];
      if (!label.is_number() && name == key) continue;
      if (!placed && (label.is_number() || name > key)) {
        labels.push_back(added);
        placed = true;
      }
      labels.push_back(label);
    }
    if (!placed) labels.push_back(added);
    set.count = static_cast<uint32_t>(labels.size()) - set.first;
  }
  const auto none = static_cast<LabelSetId>(sets.size() - 1);
  for (Row& row : profile->rows) {
    if (row.labels == kNone) row.labels = none;
  }
  profile->labels = std::move(labels);
  profile->label_sets = std::move(sets);
}

}  // namespace heapgauge
