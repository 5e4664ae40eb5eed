// The lines above a report: which program, which value, when, and how much of it is shown.
#pragma once

#include <string>
#include <vector>

#include "core/voices/pprof/graph.h"
#include "core/voices/pprof/measure.h"
#include "core/voices/pprof/report.h"

namespace heapgauge::pprof {

// How the report writes its values, before a unit was selected for all of them.
ValueFormat FormatOf(const ReportInput& input);

// The name of the value that is shown: "inuse_space", "mean_delay".
std::string SampleTypeName(const ReportInput& input);

// "Jan 2, 2006 at 3:04pm (MST)", in the zone of this machine.
std::string TimeText(int64_t time_ns);

// About the profile: "File: server", "Type: inuse_space", ...
std::vector<std::string> ProfileLabels(const ReportInput& input, const ValueFormat& format);

// The same, and how much of the profile the graph shows. `full` is for pictures: always with all
// lines, and with those that only make sense there.
std::vector<std::string> ReportLabels(const ReportInput& input, const ValueFormat& format,
                                      const Trimmed& trimmed, bool full);

// One line each.
std::string JoinLines(const std::vector<std::string>& lines);

}  // namespace heapgauge::pprof
