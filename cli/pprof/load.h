// The profile of a pprof command: sources read and added up, the base taken off, addresses named,
// frames that the profile does not want shown left out.
//
// Single-threaded but for fetching.
#pragma once

#include "cli/pprof/flags.h"
#include "core/base/result.h"
#include "core/model/profile.h"
#include "core/recording/recording.h"

namespace heapgauge::cli {

// A source that cannot be read is told, as long as another one can. A profile from a server is also
// kept in a file.
Result<Profile> LoadForPprof(const PprofSourceOptions& options, const Say& say);

// Gives a profile that knows no modules one for all addresses, so that names can be looked for.
void CoverAddresses(Profile* profile);

// What is common to all sources of a command.
OpenOptions OpenOptionsOf(const PprofSourceOptions& options, const Say& say);

}  // namespace heapgauge::cli
