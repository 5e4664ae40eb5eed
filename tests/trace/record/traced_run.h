// What a trace says, added up, and what churn_threads says about itself. For tests of `run
// --trace`.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/trace/file/trace_file.h"

namespace heapgauge::testing {

struct TraceSums {
  uint64_t births = 0;
  uint64_t deaths = 0;
  uint64_t born_bytes = 0;
  uint64_t dead_bytes = 0;
  uint64_t survivors = 0;
  uint64_t youngest_death_ns = UINT64_MAX;  // least lifetime of a block that died
};

// All of a trace, checked for being in order: times, numbers, and that what dies was born. Failures
// are failures of the test.
struct WholeTrace {
  std::shared_ptr<const trace::TraceFile> file;
  TraceSums all;
  TraceSums others;  // without the first thread of the process
};
WholeTrace ReadWholeTrace(const std::string& path);

// Sums over all threads of the file that churn_threads keeps.
struct ChurnSums {
  uint64_t threads = 0;
  uint64_t running = 0;
  uint64_t max_block = 0;
  uint64_t live_bytes = 0;
  uint64_t live_objects = 0;
  uint64_t allocated_bytes = 0;
  uint64_t allocated_objects = 0;
};
ChurnSums ReadChurn(const std::string& path);

// The child of a process, 0 if it has none yet.
pid_t ChildOf(pid_t parent);

}  // namespace heapgauge::testing
