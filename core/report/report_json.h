// JSON that reports are made of: pieces that several have in common, and the whole profile.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/fold/frames.h"
#include "core/fold/functions.h"
#include "core/model/profile.h"

namespace heapgauge {

// Pieces of JSON that several reports have in common. For the .cc files of this folder. Pure
// functions.

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

// The whole profile as JSON, for programs that want more than a report: docs/formats/json.md says
// what is in it.
//
// Written piece by piece; memory does not grow with the profile.
//
// `selected` says which rows, empty for all.
Status WriteProfileJson(const Profile& profile, const std::vector<std::string>& notes,
                        const std::vector<bool>& selected, TextSink* out);

}  // namespace heapgauge
