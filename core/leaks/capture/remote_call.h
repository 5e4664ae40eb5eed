// Has a stopped thread of another process make one system call, and be afterwards as before:
// registers, blocked signals, a system call that it was in. machine.h tells why it does no harm to
// be killed in between.
//
// To be used by the thread that stopped the process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/leaks/capture/machine.h"
#include "core/leaks/capture/stopped_process.h"

namespace heapgauge::leaks {

// The places in the C library that calls go through. To be done before the process is stopped.
CallSite FindCallSiteOf(pid_t process);
// Whether they are there: the process may run another program than it did (execve). What is true of
// a process with a stopped thread stays true.
bool HasCallSite(pid_t process, const CallSite& site);

// Why this thread may make no call; "" if there is nothing against it. A filter of system calls
// that is the program's own may kill it for one that it does not expect, and each thread can have
// another. CallIn asks this, too.
std::string WhyNoCalls(pid_t process, pid_t thread);

// Whether the filters of a thread are those of the container that it is in, and ours as well, so
// that they let it fork. To be told from /proc/PID/status of the thread, of us, and of process 1.
// Filters are inherited and none is ever taken away: who has as many as process 1, which all others
// come from, added none of its own. We need as many too: process 1 may be the program itself.
// That two processes have equally many alone says nothing.
bool HasOnlyInheritedFilters(const std::string& theirs, const std::string& ours,
                             const std::string& first);

// A thread that can make a call, the best first: it must have room on a stack that is its own, and
// not be within a sequence that must not be interrupted (rseq).
struct Caller {
  StoppedThread* thread = nullptr;
  uint64_t room = 0;  // of its stack
};
std::vector<Caller> FindCallers(StoppedProcess* process);

struct RemoteResult {
  long value = 0;   // -errno if it is negative
  pid_t child = 0;  // that the call made, as we number it; stopped, traced by us
};
// The registers of the thread are afterwards those that it has now: it may be in a handler of a
// signal. ErrorCode::kUnsupported: nothing was done, another thread may be able to. After any other
// failure the thread may still be at it, and is free when the calling thread ends.
Result<RemoteResult> CallIn(pid_t process, const Caller& caller, const CallSite& site,
                            const SystemCall& call);

}  // namespace heapgauge::leaks
