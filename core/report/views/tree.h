// The call tree as text for people and as JSON for programs. Branches that hold little are folded
// into one line that says how much they hold together, so that nothing disappears.
//
// Pure functions; time is linear in the profile, and what is shown is bounded by the fold.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/fold/functions.h"
#include "core/model/profile.h"
#include "core/report/grown_tree.h"
#include "core/report/labels.h"
#include "core/report/styled_text.h"

namespace heapgauge {

Result<StyledText> TreeText(const Profile& profile, const std::vector<std::string>& notes,
                            const TreeOptions& options);
// One line for each node with its depth, parents first.
Result<std::string> TreeCsv(const Profile& profile, const TreeOptions& options);
// Nodes in one list, parents first; "parent" is an index into it.
Result<std::string> TreeJson(const Profile& profile, const std::vector<std::string>& notes,
                             const TreeOptions& options);

}  // namespace heapgauge
