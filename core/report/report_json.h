// Pieces of JSON that several reports have in common. For the .cc files of this folder. Pure
// functions.
#pragma once

#include "core/base/json.h"
#include "core/fold/entities.h"
#include "core/fold/functions.h"
#include "core/model/profile.h"

namespace heapgauge {

// {"value": ..., "low": ..., "high": ...}
Json EstimateJson(const Estimate& estimate);

// What the profile does not know is left out; a figure that is not about live memory is "value".
Json FiguresJson(const HeapFigures& figures, const Measures& measures,
                 const RecordingFacts& recording);

// What the figures are: sample type and unit, period, time and comments of the profile.
Json ProfileJson(const Profile& profile, const Measures& measures);

Json RecordingJson(const RecordingFacts& recording);

// What an entity is: its function, file, module, address, as far as the granularity has them.
Json EntityJson(const Profile& profile, const Entities& entities, EntityId id);

}  // namespace heapgauge
