// SOURCE... of `ui`: each becomes something that the page can look at, and stays open.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/background_reads.h"
#include "cli/symbol_options.h"
#include "core/base/result.h"
#include "endpoint/api/sources.h"
#include "endpoint/base/gauge_process.h"

namespace heapgauge::cli {

// Directories among them: the processes that the page shows are those in there, also ones that
// start later.
std::vector<std::string> DirectoriesAmong(const std::vector<std::string>& words);

// A gauge file or PID is watched, a directory stands for the dumps in it, a trace answers for any
// moment, and whatever else is a profile is read once. Fails at the first that cannot be opened.
//
// Files of profiles are left to `reads`, which the caller starts; without it all is read here.
Status AddSources(const std::vector<std::string>& words, const SymbolOptions& symbols,
                  const endpoint::GaugeProcessOptions& how, endpoint::api::Sources* sources,
                  BackgroundReads* reads = nullptr);

}  // namespace heapgauge::cli
