// A trace to take along: a copy with the names of its functions inside, which needs none of the
// program's binaries.
//
// Single-threaded. The copy goes piece by piece; a trace may be larger than memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/gauge/gauge_names.h"
#include "core/model/profile.h"

namespace heapgauge::trace {

struct SavedTrace {
  uint64_t bytes = 0;  // of the copy
  NameCounts names;
  std::vector<std::string> notes;  // what the copy does not have: TraceFile::notes()
};

// Of a trace that is not whole, or still being written, what is there at first. Fails if that is
// damaged: the copy would be a file that looks whole and cannot be read. `symbolize` gives a
// profile of its stacks their names. An existing `output` is replaced once the copy is complete, a
// device or pipe is written to.
Result<SavedTrace> SaveTrace(const std::string& path, const std::string& output,
                             const std::function<void(Profile*)>& symbolize);

}  // namespace heapgauge::trace
