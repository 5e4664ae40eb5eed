// What `run --trace` tells when the program has ended: a few lines on standard error.
#pragma once

#include <string>
#include <vector>

#include "cli/launch.h"
#include "core/trace/record/recorder.h"

namespace heapgauge::cli {

// `directory` as in TraceRun.
void TellTraces(const LaunchSpec& spec, const LaunchResult& result, const std::string& directory,
                const std::vector<trace::RecordedProcess>& recorded);

// For --quiet: only that there is no trace, or that it is empty because the agent sees no calls of
// the program, or that one is not complete.
void TellTraceErrors(const LaunchSpec& spec, const LaunchResult& result,
                     const std::string& directory,
                     const std::vector<trace::RecordedProcess>& recorded);

// Forked children of the program that run on and are not recorded, if there are any.
void TellUnrecorded(size_t count);

// What recording cost this process.
void TellCost(const std::vector<trace::RecordedProcess>& recorded);

}  // namespace heapgauge::cli
