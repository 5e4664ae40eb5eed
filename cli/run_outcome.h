// What `run --trace` and `run --leaks` report when the program has ended, and the options of
// `run --leaks`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/launch.h"
#include "cli/leak_check.h"
#include "core/base/result.h"
#include "core/leaks/verdict/exact_checks.h"
#include "core/trace/record/recorder.h"

namespace heapgauge::cli {

// What `run --trace` reports: a few lines on standard error. `directory` as in TraceRun.
void TellTraces(const LaunchSpec& spec, const LaunchResult& result, const std::string& directory,
                const std::vector<trace::RecordedProcess>& recorded);

// For --quiet: only that there is no trace, or that it is empty because the agent sees no calls of
// the program, or that one is not complete.
void TellTraceErrors(const LaunchSpec& spec, const LaunchResult& result,
                     const std::string& directory,
                     const std::vector<trace::RecordedProcess>& recorded);

// Forked children of the program that run on and are not recorded, if there are any.
void TellUnrecorded(size_t count);

// What recording cost this process.
void TellCost(const std::vector<trace::RecordedProcess>& recorded);

// Options of `run --leaks`, which checks a program and those that it started when they end.
struct LeakRunOptions {
  bool on = false;
  bool no_freeres = false;
  std::string freeres = "auto";  // or always, never
  LeakOptions how;
};

// --leaks and all that goes with it, but for -o.
void AddLeakRunOptions(Command sub, LeakRunOptions* options);

// An Error if one of them is given without --leaks, or makes no sense. Reads the files that they
// name, once for all.
Status CheckLeakRun(LeakRunOptions* run);

// Who looks for leaks while the program runs. REQUIRES: CheckLeakRun.
std::unique_ptr<leaks::ExactChecks> MakeChecks(const LeakRunOptions& options);

// The program that was run.
struct CheckedProgram {
  const LaunchSpec& spec;
  const LaunchResult& result;
  std::string directory;  // of gauge files, "" for the usual one
};

// Shows the checks: of the program last and where the options say; with -o FILE others have a file
// of their own each, FILE.PID. Without -o all goes to standard error, so that the program's own
// output stays what it was, one report after the other; `quiet` leaves that out. If the program was
// not checked it says why, also if quiet, and in the output that was asked for. Returns the exit
// code for leaks, which is also that for a program that ended well and could not be checked; or 0.
int ShowLeaks(const LeakRunOptions& options, bool quiet, const CheckedProgram& program,
              leaks::ExactChecks* checks);

}  // namespace heapgauge::cli
