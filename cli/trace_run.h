// `heapgauge run --trace`: starts a program and records every allocation and free of it, and of the
// programs that it starts, into trace files.
//
// The program comes first: once it runs, nothing that goes wrong with the trace changes what it
// does or how `run` ends.
#pragma once

#include <string>

#include "cli/launch.h"
#include "cli/run_outcome.h"
#include "core/base/result.h"

namespace heapgauge::cli {

class Command;

struct TraceRunOptions {
  bool trace = false;
  bool drop = false;
  bool follow_fork = false;
  std::string buffer;
  std::string cull_below;
};

void AddTraceRunOptions(Command sub, TraceRunOptions* options);

// An Error if one of them is given without --trace.
Status CheckWithoutTrace(const TraceRunOptions& options);

struct TraceRun {
  TraceRunOptions options;
  LeakRunOptions leaks;
  std::string output;     // of -o, "" for a name made of the program's
  std::string directory;  // of gauge files, "" for the usual one
  bool mmap = false;
  bool quiet = false;
  bool verbose = false;
};

// Runs it; does not return unless it could not be started. `spec` has the agent in it.
int RunTraced(const TraceRun& run, LaunchSpec spec);

}  // namespace heapgauge::cli
