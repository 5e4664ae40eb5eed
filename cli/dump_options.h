// The options of `run` that are about dumps: --dump-* and --verbose. Each has a variable of the
// agent, HEAPGAUGE_DUMP_* and HEAPGAUGE_VERBOSE, which counts where the option is not given.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/dump_watch.h"
#include "core/base/result.h"

namespace heapgauge::cli {

class Command;

struct DumpOptions {
  bool at_exit = false;
  bool verbose = false;
  std::string allocated;
  std::string growth;
  std::string seconds;
  std::string limit;
  std::string directory;
  std::string prefix;
  std::string keep;
};

void AddDumpOptions(Command sub, DumpOptions* options);

// Checks the options, adds what the agent has to know to `environment`, and returns what is left to
// do outside. Makes the directory if it is not there.
Result<DumpWatch::Options> PrepareDumps(
    const DumpOptions& options, std::vector<std::pair<std::string, std::string>>* environment);

}  // namespace heapgauge::cli
