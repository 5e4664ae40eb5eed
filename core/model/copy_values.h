// A copy of a profile for who changes its stacks and rows and looks at values alone, as pprof's
// filters and graphs do. What stands behind the values (estimates, blocks) is half of a large
// profile and stays behind, and so do the timeline and the notes.
//
// A pure function.
#ifndef HEAPGAUGE_CORE_MODEL_COPY_VALUES_H_
#define HEAPGAUGE_CORE_MODEL_COPY_VALUES_H_

#include "core/model/profile.h"

namespace heapgauge {

Profile CopyOfValues(const Profile& profile);

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_MODEL_COPY_VALUES_H_
