// A profile made ready for reports that are drawn from pprof's call graph, but are ours: pictures,
// callgrind, raw, list. Which frames are left out and what functions are called is as in all other
// native reports.
//
// Pure.
#pragma once

#include "core/base/result.h"
#include "core/model/profile.h"
#include "core/report/labels.h"
#include "core/voices/pprof/report.h"

namespace heapgauge {

// `request` says the kind, and has options of pprof's; `type` is the sample type that is shown.
// Takes the profile apart.
Result<pprof::ReportInput> PrepareGraph(Profile profile, pprof::ReportRequest request, size_t type,
                                        Names names);

}  // namespace heapgauge
