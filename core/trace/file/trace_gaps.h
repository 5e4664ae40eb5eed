// What a trace does not have, in words: its end, events that found no room, blocks that were left
// out. TraceFile::notes() has them for every report, so that all say the same.
//
// Pure function.
#pragma once

#include <string>
#include <vector>

#include "core/trace/file/trace_facts.h"

namespace heapgauge::trace {

// One line each. `is_damaged`: it is told already that the rest of the file cannot be read, and so
// is its end.
std::vector<std::string> GapsOf(const Facts& facts, bool is_damaged);

}  // namespace heapgauge::trace
