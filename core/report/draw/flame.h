// Flame graphs: the call tree as boxes as wide as what they hold, callers above what they call.
//
// The SVG is one file without references to anything outside of it: it opens from a disk or a mail,
// fits its window, zooms on a click, searches, and shows figures under the pointer. Without scripts
// it is still a picture. On a terminal the same boxes are drawn with characters.
//
// Branches too thin to be seen are left out, so that the file stays small however large the profile
// is. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/profile.h"
#include "core/report/grown_tree.h"
#include "core/report/styled_text.h"

namespace heapgauge {

// Options of trees that are right for flame graphs.
TreeOptions FlameOptions();

Result<std::string> FlameSvg(const Profile& profile, const TreeOptions& options);

// As many levels as `lines` allows, in options.layout.width columns.
Result<StyledText> FlameText(const Profile& profile, const std::vector<std::string>& notes,
                             const TreeOptions& options, size_t lines);

}  // namespace heapgauge
