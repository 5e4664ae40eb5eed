// The heap over time as the snapshots of a massif file show it.
//
// Pure functions.
#pragma once

#include <cstdint>

#include "core/base/result.h"
#include "core/fold/timeline.h"
#include "core/formats/massif/massif_file.h"

namespace heapgauge {

// The steps between `from` and `to`, both on the axis of the file. Fails if there is none.
Result<Timeline> TimelineOfMassif(const MassifFile& file, uint64_t from, uint64_t to);

}  // namespace heapgauge
