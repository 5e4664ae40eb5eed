#include "core/leaks/capture/traced_thread.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <string>

#include "core/os/proc_fields.h"
#include "core/os/process.h"

namespace heapgauge::leaks {
namespace {

constexpr int kEventStop = 128;  // PTRACE_EVENT_STOP

int ErrorOf(long result) { return result == 0 ? 0 : errno; }

}  // namespace

int Seize(pid_t thread) { return ErrorOf(ptrace(PTRACE_SEIZE, thread, nullptr, nullptr)); }

int Interrupt(pid_t thread) { return ErrorOf(ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr)); }

StopState LookAt(pid_t thread) {
  siginfo_t info{};
  const int flags = WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL;
  if (waitid(P_PID, static_cast<id_t>(thread), &info, flags) != 0) {
    return {errno == ECHILD ? StopKind::kGone : StopKind::kRunning, 0};
  }
  if (info.si_pid == 0) return {};
  if (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED) {
    // A traced thread that has ended stays until it is waited for.
    waitpid(thread, nullptr, __WALL | WNOHANG);
    return {StopKind::kGone, 0};
  }
  const int signal = info.si_status & 0xff;
  const int event = info.si_status >> 8 & 0xff;
  if (event == kEventStop) {
    return {signal == SIGTRAP ? StopKind::kTrap : StopKind::kGroupStop, signal};
  }
  if (event != 0) return {StopKind::kNewChild, signal};
  if (signal == (SIGTRAP | 0x80)) return {StopKind::kSystemCall, signal};
  return {StopKind::kSignal, signal};
}

StopState WaitForStop(pid_t thread, uint64_t deadline_ns) {
  long nap_ns = 5'000;
  while (true) {
    const StopState state = LookAt(thread);
    if (state.kind != StopKind::kRunning || MonotonicNow() >= deadline_ns) return state;
    const timespec nap{0, nap_ns};
    nanosleep(&nap, nullptr);
    nap_ns = std::min(nap_ns * 2, 200'000L);
  }
}

int Resume(pid_t thread, int signal) {
  return ErrorOf(ptrace(PTRACE_CONT, thread, nullptr, signal));
}

int ResumeToSystemCall(pid_t thread, int signal) {
  return ErrorOf(ptrace(PTRACE_SYSCALL, thread, nullptr, signal));
}

int LetGo(pid_t thread) { return ErrorOf(ptrace(PTRACE_DETACH, thread, nullptr, nullptr)); }

int ReadSignalMask(pid_t thread, uint64_t* mask) {
  return ErrorOf(ptrace(PTRACE_GETSIGMASK, thread, sizeof *mask, mask));
}

int WriteSignalMask(pid_t thread, uint64_t mask) {
  return ErrorOf(ptrace(PTRACE_SETSIGMASK, thread, sizeof mask, &mask));
}

char StateOf(pid_t process, pid_t thread) {
  return StatState(
      ReadStat("/proc/" + std::to_string(process) + "/task/" + std::to_string(thread)));
}

}  // namespace heapgauge::leaks
