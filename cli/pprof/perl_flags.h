// The flags of jeprof and google-pprof, from words to perl::Options.
//
// Pure.
#pragma once

#include <vector>

#include "cli/pprof/flag_table.h"
#include "cli/pprof/flags.h"

namespace heapgauge::cli {

// Fills in line->perl and what of line->source the perl tools have flags for. REQUIRES: the perl
// tools know all of the flags.
Status TakePerlFlags(const std::vector<GivenFlag>& flags, PprofCommandLine* line);

}  // namespace heapgauge::cli
