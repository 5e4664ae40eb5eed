// The facts of a gauge file without its stacks: what `ps`, `ctl status` and the last lines of `run`
// show. Reads the header and the live table only.
#pragma once

#include <string>

#include "core/base/file.h"
#include "core/base/result.h"
#include "core/gauge/gauge_layout.h"
#include "core/model/estimate.h"
#include "core/model/recording.h"

namespace heapgauge {

struct GaugeSummary {
  RecordingFacts recording;
  Estimate live_bytes;
  double live_objects = 0;
};
Result<GaugeSummary> ReadGaugeSummary(const std::string& path);

// Everything the header says about the recording, apart from what depends on the live table.
RecordingFacts RecordingOf(const GaugeLayout& layout);

// Sets state and duration: does the process that wrote `path` still run? `last_sign_ns` is the
// latest time found in the file.
void FindState(const GaugeLayout& layout, const std::string& path, uint64_t last_sign_ns,
               RecordingFacts* recording);

// True if the record's numbers can be those of an allocation.
bool IsPlausible(const wire::LiveRecord& record);

}  // namespace heapgauge
