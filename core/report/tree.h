// The call tree as text for people and as JSON for programs. Branches that hold little are folded
// into one line that says how much they hold together, so that nothing disappears.
//
// Pure functions; time is linear in the profile, and what is shown is bounded by the fold.
#ifndef HEAPGAUGE_CORE_REPORT_TREE_H_
#define HEAPGAUGE_CORE_REPORT_TREE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "core/analysis/functions.h"
#include "core/base/result.h"
#include "core/model/profile.h"
#include "core/report/labels.h"
#include "core/report/styled_text.h"

namespace heapgauge {

struct TreeOptions {
  RowFilter filter;
  SortKey sort = SortKey::kLive;  // age: as live
  Granularity granularity = Granularity::kFunctions;
  Names names = Names::kShort;
  Layout layout;
  bool callers = false;   // from what allocates to its callers
  bool compress = false;  // a chain of calls without branches on one line
  double fold = 1;        // percent of the total; branches below are folded
  size_t depth = 0;       // calls at the most; 0 no limit
  size_t rows = 1000;     // lines at the most; what is beyond is folded as well
};

Result<StyledText> TreeText(const Profile& profile, const std::vector<std::string>& notes,
                            const TreeOptions& options);
// Nodes in one list, parents first; "parent" is an index into it.
Result<std::string> TreeJson(const Profile& profile, const std::vector<std::string>& notes,
                             const TreeOptions& options);

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_REPORT_TREE_H_
