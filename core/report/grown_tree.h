// The call tree that a report shows: built, cut down to what is worth showing, and named. Trees in
// lines and flame graphs are two ways to draw it.
//
// Plain data; the profile must outlive it.
#pragma once

#include <cstddef>

#include "core/base/result.h"
#include "core/fold/call_tree.h"
#include "core/fold/functions.h"
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

struct GrownTree {
  FunctionReport totals;  // entities, measures, total and selected figures; no rows
  CallTree tree;
  PrunedTree pruned;
  Labels labels;
  // Of a change: what the stacks lost that shrank. They are left out: a part cannot be less than
  // nothing.
  double shrunk = 0;
};

// A line about what was left out, or nothing.
StyledText ShrunkText(const GrownTree& grown);

Result<GrownTree> GrowTree(const Profile& profile, const TreeOptions& options);

}  // namespace heapgauge
