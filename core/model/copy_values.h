// A copy of a profile for who changes its stacks and rows and looks at values alone, as pprof's
// filters and graphs do. What stands behind the values (estimates, blocks) is half of a large
// profile and stays behind, and so do the timeline and the notes.
//
// A pure function.
#pragma once

#include "core/model/profile.h"

namespace heapgauge {

Profile CopyOfValues(const Profile& profile);

}  // namespace heapgauge
