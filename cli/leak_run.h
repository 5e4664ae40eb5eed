// `heapgauge run --leaks`: what is shown of the checks that were made of a program, and of those it
// started, when they ended.
#ifndef HEAPGAUGE_CLI_LEAK_RUN_H_
#define HEAPGAUGE_CLI_LEAK_RUN_H_

#include <cstdint>
#include <memory>

#include "cli/leak_options.h"
#include "core/base/result.h"
#include "core/leaks/exact_checks.h"

namespace heapgauge::cli {

struct LeakRunOptions {
  bool on = false;
  bool no_freeres = false;
  std::string freeres = "auto";  // or always, never
  LeakOptions how;
};

// --leaks and all that goes with it, but for -o.
void AddLeakRunOptions(Command sub, LeakRunOptions* options);

// An Error if one of them is given without --leaks, or makes no sense.
Status CheckLeakRun(const LeakRunOptions& options);

// Who looks for leaks while the program runs. REQUIRES: CheckLeakRun.
std::unique_ptr<leaks::ExactChecks> MakeChecks(const LeakRunOptions& options);

// Shows the checks: of the program `pid` last and where the options say; of others only a line, and
// with -o FILE a file of their own each, FILE.PID. Without -o text goes to standard error, so that
// the program's own output stays what it was; `quiet` leaves that out. Returns the exit code for
// leaks, or 0.
int ShowLeaks(const LeakRunOptions& options, bool quiet, uint32_t pid, leaks::ExactChecks* checks);

}  // namespace heapgauge::cli

#endif  // HEAPGAUGE_CLI_LEAK_RUN_H_
