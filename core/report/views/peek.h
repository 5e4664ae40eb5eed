// A function among its neighbours: who calls it and what it calls, each with how much of the
// function's memory goes that way. As text for people and as JSON for programs.
//
// A stack counts once for each pair of neighbours, however often the function is on it. Pure
// functions; time is linear in the frames of all rows.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/fold/functions.h"
#include "core/model/profile.h"
#include "core/report/labels.h"
#include "core/report/styled_text.h"

namespace heapgauge {

struct PeekOptions {
  std::string pattern;  // RE2, over the names of functions; files or modules where these are shown
  RowFilter filter;
  Granularity granularity = Granularity::kFunctions;
  SortKey sort = SortKey::kLive;
  Names names = Names::kShort;
  size_t rows = 10;  // functions
  Layout layout;
};

// Fail if nothing matches.
Result<StyledText> PeekText(const Profile& profile, const std::vector<std::string>& notes,
                            const PeekOptions& options);
Result<std::string> PeekJson(const Profile& profile, const PeekOptions& options);

}  // namespace heapgauge
