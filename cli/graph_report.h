// Reports that are made of pprof's call graph, under our own options: pictures, callgrind, raw,
// list. Which frames are left out and what functions are called is as in all other native reports.
//
// Single-threaded.
#pragma once

#include "cli/report_source.h"
#include "core/voices/pprof/report.h"

namespace heapgauge::cli {

// Loads the profile and prepares the report.
Result<pprof::ReportInput> PrepareReport(const ReportOptions& options, pprof::ReportKind kind);

// -n, --functions and its kin without modules, --cum, --names
void AddGraphOptions(Command sub, ReportOptions* options);

}  // namespace heapgauge::cli
