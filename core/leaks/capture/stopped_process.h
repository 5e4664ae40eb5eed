// Threads of another process under ptrace: one, or all of them standing still.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "core/leaks/capture/machine.h"

namespace heapgauge::leaks {

// One thread of another process under ptrace: attach without a signal, stop, resume, let go.
//
// All of these functions must be called by the thread that attached. If that thread ends, or is
// killed, the kernel lets all threads go that it holds. So nothing may be taken from the kernel
// that only we could give back: a signal that a thread is stopped for is looked at without being
// consumed.

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

struct StoppedThread {
  pid_t id = 0;
  bool stopped = false;        // false: waits in the kernel
  bool group_stopped = false;  // and would without us
  uint64_t stack_pointer = 0;  // 0 unknown
  MachineRegisters registers{};
};

// A process whose threads all stand still, held by ptrace. Threads that come while we attach are
// found by looking again until there is none that we do not hold.
//
// A thread that waits in the kernel and cannot be woken (for the child of a vfork, for a disk) does
// not stop. It does not run either: its stack is searched, its registers are not known. It would
// stop once it wakes up, so whoever let go of the process looks after these until they are free.
//
// Not a thread ends or starts meanwhile, except by SIGKILL. All calls must come from one thread;
// when that one ends, everything is let go.
class StoppedProcess {
 public:
  static constexpr size_t kMaxThreads = 100'000;

  StoppedProcess() = default;
  ~StoppedProcess() { LetAllGo(); }
  StoppedProcess(const StoppedProcess&) = delete;
  StoppedProcess& operator=(const StoppedProcess&) = delete;

  // A thread that runs stops within microseconds of processor time; the machine may be busy.
  static constexpr uint64_t kLongestNs = 3'000'000'000;

  // If not all threads stop within `longest_ns` they are let go, and it is tried once more after
  // the program had as much time as it lost. Fails with one line that says why; the process runs
  // then.
  Status Stop(pid_t process, uint64_t longest_ns = kLongestNs);
  // The same for one thread alone.
  Status StopOne(pid_t process, pid_t thread);
  pid_t process() const { return process_; }
  std::vector<StoppedThread>& threads() { return threads_; }
  // For how long, until now or until it was let go.
  uint64_t stood_still_ns() const;

  // The process goes on. Those that are not free yet stay in threads().
  void LetAllGo();
  // Lets those go that have stopped since; true if none is left.
  bool LetStragglersGo();
  // The same until none is left, or the time is over. Each stops when it gets a processor, and goes
  // on at once; if nobody were there, a system call that it was in could fail with EINTR.
  bool WaitForStragglers(uint64_t longest_ns);

 private:
  // How many are new; fails if the process may not be traced.
  Result<size_t> SeizeNewThreads();
  Status TryToStop(uint64_t longest_ns);
  Status WaitForAll(uint64_t longest_ns);
  // True once nothing more is to be waited for.
  bool Settle(StoppedThread* thread, bool patience_is_over);
  void ForgetGone();

  pid_t process_ = 0;
  std::vector<StoppedThread> threads_;
  uint64_t first_stop_ns_ = 0;   // 0: nothing was stopped, or all was let go
  uint64_t stood_still_ns_ = 0;  // before that
  bool is_out_of_time_ = false;
};

// Whether another leak check holds the process at this moment.
bool IsTracedByACheck(pid_t process);

}  // namespace heapgauge::leaks
