// `top --watch`: the table of functions on a screen of its own, refreshed until the user has seen
// enough. Shows what changed since the last refresh and since the watch began.
//
// Single-threaded.
#pragma once

#include "cli/report_options.h"

namespace heapgauge::cli {

// Runs until a key or a signal ends it; returns the exit code.
int Watch(const ReportOptions& options);

}  // namespace heapgauge::cli
