// The units of numeric labels. A format tells a unit with each number, or none; pprof takes the
// first that it meets for a key, and the key itself where there is none ("bytes").
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/model/profile.h"

namespace heapgauge::pprof {

using LabelUnits = std::map<std::string, std::string, std::less<>>;

// By key. A line is added to `warnings`, if given, for each key that has several units. Looks at
// each set of labels once.
LabelUnits FindLabelUnits(const Profile& profile, std::vector<std::string>* warnings = nullptr);

}  // namespace heapgauge::pprof
