// What a check found lost, as a profile: flame graphs and tables show it as any other figure. A row
// is a stack with lost blocks (definitely or indirectly, and not suppressed); its types are what it
// holds (inuse_objects, inuse_space) and what of that is lost (lost_objects, lost_space).
//
// A pure function.
#pragma once

#include "core/leaks/scan/check.h"
#include "core/leaks/verdict/loss_records.h"
#include "core/model/profile.h"

namespace heapgauge::leaks {

// `blocks`: it is about numbers of blocks, not bytes. REQUIRES: the check looked at memory, and the
// records are its own.
Profile LostProfile(const Check& check, const LossRecords& losses, bool blocks);

}  // namespace heapgauge::leaks
