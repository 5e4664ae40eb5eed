// Runs a program as if the caller had: its signals, exit code and standard streams go through
// untouched. heapgauge stays behind it as the parent, only to watch. Also finds the agent and gets
// it into the program.
//
// Call from a single-threaded process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/model/recording.h"

namespace heapgauge::cli {

struct LaunchSpec {
  std::vector<std::string> command;                              // not empty; looked up in $PATH
  std::vector<std::pair<std::string, std::string>> environment;  // set in the child
  std::string pid_variable;  // also set in the child, to its own pid
};

struct LaunchResult {
  pid_t pid = 0;
  int exec_errno = 0;        // not 0: the program could not be started
  int wait_status = 0;       // as from waitpid
  uint64_t duration_ns = 0;  // until we noticed its end
};

// Starts the program and waits for its end; calls `tick` with its pid every `period_ns` meanwhile,
// and `started` once before, if it is there: threads may be made from then on, and have those
// signals blocked that are taken here. `ended` is called after its end, with these signals still
// blocked.
// Signals that other processes send to us are passed on. Those that the terminal sends reach the
// program by themselves and are not.
Result<LaunchResult> Launch(const LaunchSpec& spec, uint64_t period_ns,
                            const std::function<void(pid_t)>& tick,
                            const std::function<void(pid_t)>& started = {},
                            const std::function<void(int wait_status)>& ended = {});

// How long it ran: as it said itself when it ended, else by our clock.
uint64_t RunningTime(const LaunchResult& result, const RecordingFacts& recording);

// What is to be said if the program ended by itself and the agent did not see that; "" else.
std::string UnseenEnd(const LaunchResult& result, bool seen);

// "exited with 0", "was killed by SIGSEGV".
std::string HowItEnded(int wait_status);

// Ends this process as the program ended: the same exit code, or the same signal (with no core
// file of our own). Threads that still run are not waited for.
[[noreturn]] void EndLike(int wait_status);

// $HEAPGAUGE_AGENT, the agent beside our own executable, or where it was installed.
Result<std::string> FindAgent();

// Puts the agent into LD_PRELOAD, before anything that is there already; not where the program
// would not start with it (musl, an old glibc, AddressSanitizer): it runs as it is then.
Status PreloadAgent(const std::string& agent, LaunchSpec* spec);

}  // namespace heapgauge::cli
