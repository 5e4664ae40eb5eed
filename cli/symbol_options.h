// Options of every command that shows names: where debug files are, and what not to use.
#pragma once

#include <string>
#include <vector>

#include "core/model/profile.h"
#include "core/symbolize/symbolizer.h"

namespace heapgauge::cli {

class Command;

struct SymbolOptions {
  std::vector<std::string> debug_paths;
  std::vector<std::string> binary_dirs;  // where modules themselves may be
  std::string program;                   // the file of the first module, "" as the profile says
  bool no_debuginfod = false;
  bool no_cache = false;
};

void AddSymbolOptions(Command sub, SymbolOptions* options);

// Names all locations of the profile that have no name yet and tells what stood in the way. If the
// process that it came from still runs, files are also looked for through it.
SymbolizeReport NameLocations(const SymbolOptions& options, Profile* profile,
                              ProgressSink* progress = nullptr);

}  // namespace heapgauge::cli
