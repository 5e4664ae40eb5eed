// The second half of reading pprof's format: checks that everything that is named is there, and
// puts texts in place of their numbers.
//
// Refuses texts, locations and functions that are missing and samples whose values nothing
// explains; mappings that are missing become a note.
#pragma once

#include "core/base/result.h"
#include "core/formats/pprof/pprof_draft.h"

namespace heapgauge {

// On success, draft->profile is complete.
Status ResolvePprof(PprofDraft* draft);

}  // namespace heapgauge
