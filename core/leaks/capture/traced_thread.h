// One thread of another process under ptrace: attach without a signal, stop, resume, let go.
//
// Everything here must be called by the thread that attached. If that thread ends, or is killed,
// the kernel lets all threads go that it holds. So nothing may be taken from the kernel that only
// we could give back: a signal that a thread is stopped for is looked at without being consumed.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace heapgauge::leaks {

enum class StopKind : uint8_t {
  kRunning,     // it has not stopped yet
  kGone,        // it has ended
  kTrap,        // by Interrupt
  kGroupStop,   // the whole process is stopped, by SIGSTOP or its like
  kSignal,      // before a signal, which it gets when it is resumed with it
  kSystemCall,  // at the beginning or the end of one
  kNewChild,    // in a call that made a process
};

struct StopState {
  StopKind kind = StopKind::kRunning;
  int signal = 0;
};

// 0 or errno. EPERM: it may not be traced, has ended, or is traced already.
int Seize(pid_t thread);
int Interrupt(pid_t thread);
// At once.
StopState LookAt(pid_t thread);
// Waits until it is something else than running; at most until `deadline_ns`, of MonotonicNow().
StopState WaitForStop(pid_t thread, uint64_t deadline_ns);
// Goes on, with the signal it has stopped for or 0. 0 or errno.
int Resume(pid_t thread, int signal);
// The same, until the next beginning or end of a system call.
int ResumeToSystemCall(pid_t thread, int signal);
int LetGo(pid_t thread);

// Signals that it has blocked.
int ReadSignalMask(pid_t thread, uint64_t* mask);
int WriteSignalMask(pid_t thread, uint64_t mask);

// The letter of its state in /proc; 0 if it is gone.
char StateOf(pid_t process, pid_t thread);

}  // namespace heapgauge::leaks
