// Which figure of a profile is meant by a word such as "allocated", or by none: the choice that
// every report and every page makes, made in one place.
//
// Pure functions.
#pragma once

#include <cstddef>
#include <string>

#include "core/base/result.h"
#include "core/fold/functions.h"
#include "core/model/profile.h"

namespace heapgauge {

// "live", "allocated", "count", "age"; kLive for anything else.
SortKey SortKeyOf(const std::string& name);

// The key of that name; "" is what the profile is about. Fails if it has nothing to sort by so.
Result<SortKey> ChooseSort(const std::string& name, const Profile& profile);

// The sample type that a format with a single value gets.
size_t TypeOf(const Profile& profile, SortKey sort);

}  // namespace heapgauge
