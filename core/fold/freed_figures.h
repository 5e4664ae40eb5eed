// What was freed, of a profile that counts all that was allocated and what is live: the difference,
// stack by stack.
//
// Samples of live blocks are among those of all blocks, and each was taken by a toss of its own. So
// the samples of freed blocks are those that are left, and variances differ as the figures do.
#pragma once

#include "core/base/result.h"
#include "core/model/profile.h"

namespace heapgauge {

// Whether AddFreed can tell.
bool KnowsFreed(const Profile& profile);

// Adds the types freed_objects and freed_space; the default type is the second, or the first if
// objects are asked for. A stack that has more live than was allocated in it (blocks that a forked
// process has from its parent) freed nothing. Fails if the profile does not count allocations.
Status AddFreed(bool objects, Profile* profile);

}  // namespace heapgauge
