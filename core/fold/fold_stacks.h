// Stacks of calls as stacks of entities: call sites, inlining and addresses do not matter any more,
// and equal stacks are one row. Two profiles become comparable so, also those of two builds of a
// program, and calls of a function by itself can be left out.
//
// Pure; time is linear in the frames of the profile's nodes.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/fold/frames.h"
#include "core/fold/match_across.h"
#include "core/model/profile.h"

namespace heapgauge {

struct FoldedStacks {
  // Its locations are the entities, by number; its rows have no figures. The frames at the inner
  // end that only allocate are left out.
  Profile profile;
  Entities entities;          // of it
  std::vector<RowId> row_of;  // by row of the profile that was folded
};

// `collapse`, by entity: where one of these is on the stack again, all between the two is left out.
// Empty: none.
FoldedStacks FoldStacks(const Profile& profile, const Entities& entities,
                        const std::vector<bool>& collapse);

// One profile with the rows of the first, then those of the second; no figures. Fails if there are
// too many.
Result<Profile> SideBySide(const Profile& first, const Profile& second);
// The entities of that profile, where what is the same in both (match_across.h) is one.
Entities EntitiesSideBySide(const Profile& both, const MatchSide& first, const MatchSide& second);

// Which entities a regular expression means: by the name of the function, or of the file or module
// where that is what they stand for.
Result<std::vector<bool>> MatchEntities(const Profile& profile, const Entities& entities,
                                        const std::string& pattern);

}  // namespace heapgauge
