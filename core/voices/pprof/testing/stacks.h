// What the tests of filters look at: the stacks of a profile as text, and labels for its rows. Not
// for use outside of tests.
#pragma once

#include <string>
#include <vector>

#include "core/base/regex.h"
#include "core/model/profile.h"
#include "core/voices/pprof/frame_filter.h"

namespace heapgauge::pprof::testing {

// One line for each row, outermost function first; inlined calls are joined by "+".
inline std::vector<std::string> StacksOf(const Profile& profile) {
  std::vector<std::string> result;
  std::vector<LocationId> stack;
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    profile.StackOf(row, &stack);
    std::string text;
    for (size_t i = stack.size(); i-- > 0;) {
      const auto frames = FramesOf(profile, profile.locations[stack[i]]);
      if (!text.empty()) text += ' ';
      for (size_t f = frames.size(); f-- > 0;) {
        text += profile.functions[frames[f].function].name;
        if (f > 0) text += '+';
      }
    }
    result.push_back(text);
  }
  return result;
}

inline StringId AddString(const std::string& text, Profile* profile) {
  profile->strings.push_back(text);
  return static_cast<StringId>(profile->strings.size() - 1);
}

inline heapgauge::Label TextLabel(const std::string& key, const std::string& text,
                                  Profile* profile) {
  heapgauge::Label label;
  label.key = AddString(key, profile);
  label.text = AddString(text, profile);
  return label;
}

inline heapgauge::Label NumberLabel(const std::string& key, int64_t number, const std::string& unit,
                                    Profile* profile) {
  heapgauge::Label label;
  label.key = AddString(key, profile);
  label.number = number;
  if (!unit.empty()) label.unit = AddString(unit, profile);
  return label;
}

inline void SetLabels(RowId row, const std::vector<heapgauge::Label>& labels, Profile* profile) {
  profile->rows[row].labels = static_cast<LabelSetId>(profile->label_sets.size());
  profile->label_sets.push_back(
      {static_cast<uint32_t>(profile->labels.size()), static_cast<uint32_t>(labels.size())});
  profile->labels.insert(profile->labels.end(), labels.begin(), labels.end());
}

inline Regex Re(const std::string& pattern) { return *Regex::Compile(pattern); }

}  // namespace heapgauge::pprof::testing
