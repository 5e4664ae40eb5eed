// Makes the sample types of several profiles agree before they are merged, as newer pprof does:
// only those that all have are kept, in the order of the first profile, and values are brought to
// the finest unit that occurs (bytes rather than kB).
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/model/profile.h"

namespace heapgauge {

// Changes are told in the notes of the first profile. An error if nothing is common.
Status AlignSampleTypes(std::vector<Profile>* profiles);

}  // namespace heapgauge
