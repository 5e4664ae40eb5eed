// Changes to whole profiles: rows taken out, a copy of the values alone, the program made the first
// module.
#pragma once

#include <vector>

#include "core/model/profile.h"

namespace heapgauge {

// Takes rows out of a profile, with all that belongs to them.

// Rows that stay keep their order. Nodes, locations and labels stay as they are. REQUIRES: one
// entry for each row.
void KeepRows(const std::vector<bool>& keep, Profile* profile);

// A copy of a profile for who changes its stacks and rows and looks at values alone, as pprof's
// filters and graphs do. What stands behind the values (estimates, blocks) is half of a large
// profile and stays behind, and so do the timeline and the notes.
//
// A pure function.

Profile CopyOfValues(const Profile& profile);

// The program itself as the first module of a profile: tools take the first mapping for it, and in
// a recording the first stack may well lead through the dynamic linker.

// By the path in `recording`; nothing happens if no module has it. Changes ids: to be called when
// names that the file brings by these have been attached.
void PutProgramFirst(Profile* profile);

}  // namespace heapgauge
