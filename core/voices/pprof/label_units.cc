#include "core/voices/pprof/label_units.h"

#include <set>

namespace heapgauge::pprof {

LabelUnits FindLabelUnits(const Profile& profile, std::vector<std::string>* warnings) {
  struct Units {
    StringId used = kNone;
    std::set<std::string> others;
  };
  std::map<std::string, Units, std::less<>> found;
  std::vector<uint8_t> seen(profile.label_sets.size());
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    const LabelSetId set = profile.rows[row].labels;
    if (set == kNone || seen[set] != 0) continue;
    seen[set] = 1;
    for (const heapgauge::Label& label : profile.LabelsOf(row)) {
      if (!label.is_number()) continue;
      Units& units = found[profile.strings[label.key]];
      if (label.unit == kNone || profile.strings[label.unit].empty()) continue;
      if (units.used == kNone) {
        units.used = label.unit;
      } else if (profile.strings[units.used] != profile.strings[label.unit]) {
        units.others.insert(profile.strings[label.unit]);
      }
    }
  }

  LabelUnits result;
  for (const auto& [key, units] : found) {
    std::string& unit = result[key];
    if (units.used != kNone) {
      unit = profile.strings[units.used];
    } else {
      unit = key == "alignment" || key == "request" ? "bytes" : key;
    }
    if (units.others.empty() || warnings == nullptr) continue;
    std::string others;
    for (const std::string& other : units.others) others += (others.empty() ? "" : ", ") + other;
    warnings->push_back("For tag " + key + " used unit " + unit + ", also encountered unit(s) " +
                        others);
  }
  return result;
}

}  // namespace heapgauge::pprof
