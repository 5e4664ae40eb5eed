// Gives every location of a profile its functions and lines. Works outside of the profiled program,
// by module path and build-id, so nothing is asked of the program and a dead one is no different.
//
// Every location has at least one frame afterwards: where no name can be had it is
// "module+0xoffset". What stood in the way (file gone, another build) is told in the report's
// notes.
//
// Formats that tell only where a file was mapped leave the load bias to be found here, from the
// segments of the file (module_files.h). Locations that have frames already are left alone.
//
// Each module's file is opened once for all its addresses. Single-threaded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/sinks.h"
#include "core/model/profile.h"
#include "core/symbolize/symbolize_options.h"

namespace heapgauge {

// One line for each module that could not be used as it should, for people.
struct SymbolizeReport {
  std::vector<std::string> notes;
};

SymbolizeReport Symbolize(const SymbolizeOptions& options, Profile* profile);

}  // namespace heapgauge
