// The pprof command in the words of jeprof and google-pprof: reads profiles as they do, makes the
// report or runs their shell.
//
// Single-threaded but for fetching.
#pragma once

#include "cli/pprof/flags.h"

namespace heapgauge::cli {

// Returns the exit code. REQUIRES: line.dialect is not pprof's.
int RunAsPerlTool(const PprofCommandLine& line, const Say& say);

}  // namespace heapgauge::cli
