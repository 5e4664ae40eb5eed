// The labels of a row, grouped by key as pprof's reports print them.
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "core/model/profile.h"

namespace heapgauge::pprof {

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

}  // namespace heapgauge::pprof
