// Where the agent is, and how it gets into a program that is started.
#pragma once

#include <string>

#include "cli/launch.h"
#include "core/base/result.h"

namespace heapgauge::cli {

// $HEAPGAUGE_AGENT, the agent beside our own executable, or where it was installed.
Result<std::string> FindAgent();

// Puts the agent into LD_PRELOAD, before anything that is there already; not where the program
// would not start with it (musl, an old glibc, AddressSanitizer): it runs as it is then.
Status PreloadAgent(const std::string& agent, LaunchSpec* spec);

}  // namespace heapgauge::cli
