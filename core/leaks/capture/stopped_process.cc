#include "core/leaks/capture/stopped_process.h"

#include <errno.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <unordered_set>

#include "core/base/file.h"
#include "core/base/numbers.h"
#include "core/os/memory_maps.h"
#include "core/os/proc_fields.h"
#include "core/os/process.h"

namespace heapgauge::leaks {
namespace {

constexpr int kEventStop = 128;  // PTRACE_EVENT_STOP

int ErrorOf(long result) { return result == 0 ? 0 : errno; }

// Whether it is the first thread of a process that this one has started: its exit code is for
// whoever waits for the process.
bool IsOwnChild(pid_t thread) {
  const std::string status = ReadStatus("/proc/" + std::to_string(thread));
  return NumberIn<pid_t>(StatusField(status, "Tgid")) == thread &&
         NumberIn<pid_t>(StatusField(status, "PPid")) == getpid();
}

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
    if (!IsOwnChild(thread)) waitpid(thread, nullptr, __WALL | WNOHANG);
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

namespace {

constexpr uint64_t kMillisecond = 1'000'000;
// Those that did not stop in time do so when they are next on a processor.
constexpr uint64_t kLongestStragglingNs = 10'000 * kMillisecond;
// One that waits in the kernel as long as this may do so for hours.
constexpr uint64_t kPatienceNs = 20 * kMillisecond;

void Nap() {
  const timespec nap{0, 20'000};
  nanosleep(&nap, nullptr);
}

// The process that traces this one already; 0 if none does.
uint32_t TracerOf(pid_t process) {
  const std::string status = ReadStatus(fmt::format("/proc/{}", process));
  return NumberIn<uint32_t>(StatusField(status, "TracerPid")).value_or(0);
}

Error CannotTrace(pid_t process, int error) {
  const auto info = ReadProcess(static_cast<uint32_t>(process));
  if (!info || info->ended()) {
    return {ErrorCode::kNotFound, fmt::format("there is no running process {}", process)};
  }
  if (const uint32_t tracer = TracerOf(process)) {
    const std::string name = TaskName(fmt::format("/proc/{}", tracer));
    Error held{ErrorCode::kHeld,
               fmt::format("process {} is traced by {}{}; end that first", process, tracer,
                           name.empty() ? "" : " (" + name + ")")};
    held.holder = tracer;
    return held;
  }
  Error failed = SystemError(fmt::format("process {} may not be traced (ptrace)", process), error);
  return failed;
}

// Seizes a thread, also if its tracer lets go of it right after the first try: otherwise nobody
// could be named who holds it, and it would seem to be forbidden.
int SeizeFreed(pid_t process, pid_t thread) {
  const int error = Seize(thread);
  return error == EPERM && TracerOf(process) == 0 ? Seize(thread) : error;
}

// By StateOf.
bool IsOver(char state) { return state == 0 || state == 'Z' || state == 'X'; }

// Whether a thread has ended that does not stop. A first thread that ends before the others stays
// in the list, and whoever waits for it does not see it until all have ended.
bool HasEnded(pid_t process, pid_t thread) {
  if (!IsOver(StateOf(process, thread))) return false;
  // Another thread has to be waited for, or the program could not run another one.
  LookAt(thread);
  return true;
}

uint64_t SleepingStackPointer(pid_t process, pid_t thread) {
  const auto line = ReadWholeFile(fmt::format("/proc/{}/task/{}/syscall", process, thread), 512);
  return line ? StackPointerIn(*line) : 0;
}

}  // namespace

bool IsTracedByACheck(pid_t process) {
  const uint32_t tracer = TracerOf(process);
  return tracer != 0 && TaskName(fmt::format("/proc/{}", tracer)).starts_with("heapgauge");
}

Result<size_t> StoppedProcess::SeizeNewThreads() {
  std::unordered_set<pid_t> known;
  for (const StoppedThread& thread : threads_) known.insert(thread.id);
  const auto threads = NumbersIn(fmt::format("/proc/{}/task", process_));
  if (!threads) return tl::unexpected(CannotTrace(process_, errno));
  size_t fresh = 0;
  for (const uint32_t number : *threads) {
    const auto id = static_cast<pid_t>(number);
    if (!known.insert(id).second) continue;
    if (threads_.size() >= kMaxThreads) {
      return Fail(ErrorCode::kUnsupported,
                  fmt::format("process {} has more than {} threads", process_, kMaxThreads));
    }
    const int error = SeizeFreed(process_, id);
    if (error != 0) {
      const char state = StateOf(process_, id);
      // It has ended, or is about to.
      if (error == ESRCH || IsOver(state)) continue;
      return tl::unexpected(CannotTrace(process_, error));
    }
    if (first_stop_ns_ == 0) first_stop_ns_ = MonotonicNow();
    threads_.push_back({.id = id});
    Interrupt(id);
    ++fresh;
  }
  return fresh;
}

bool StoppedProcess::Settle(StoppedThread* thread, bool patience_is_over) {
  const StopState state = LookAt(thread->id);
  switch (state.kind) {
    case StopKind::kGone:
      thread->id = 0;
      return true;
    case StopKind::kTrap:
    case StopKind::kGroupStop:
      if (!ReadRegisters(thread->id, &thread->registers)) return false;
      // At once, so that it holds even if we are killed.
      if (RestartUnlessSignalled(&thread->registers)) {
        WriteRegisters(thread->id, thread->registers);
      }
      thread->stopped = true;
      thread->group_stopped = state.kind == StopKind::kGroupStop;
      thread->stack_pointer = StackPointerOf(thread->registers);
      return true;
    case StopKind::kSignal:
      // The stop that we asked for comes right after.
      Resume(thread->id, state.signal);
      return false;
    case StopKind::kSystemCall:
    case StopKind::kNewChild:
      Resume(thread->id, 0);
      return false;
    case StopKind::kRunning:
      if (!patience_is_over) return false;
      if (HasEnded(process_, thread->id)) {
        thread->id = 0;
        return true;
      }
      if (StateOf(process_, thread->id) != 'D') return false;
      thread->stack_pointer = SleepingStackPointer(process_, thread->id);
      return true;
  }
  return false;
}

Status StoppedProcess::WaitForAll(uint64_t longest_ns) {
  std::vector<StoppedThread*> waiting;
  for (StoppedThread& thread : threads_) {
    if (!thread.stopped && thread.stack_pointer == 0) waiting.push_back(&thread);
  }
  uint64_t progress_ns = MonotonicNow();
  while (!waiting.empty()) {
    const size_t before = waiting.size();
    const uint64_t now = MonotonicNow();
    std::erase_if(waiting, [&](StoppedThread* thread) {
      return Settle(thread, now - progress_ns > kPatienceNs);
    });
    if (waiting.size() != before) {
      progress_ns = MonotonicNow();
      continue;
    }
    if (now - first_stop_ns_ > longest_ns) {
      is_out_of_time_ = true;
      const pid_t late = waiting.front()->id;
      ForgetGone();
      return Fail(ErrorCode::kUnavailable,
                  fmt::format("thread {} of process {} could not be stopped within {} s", late,
                              process_, longest_ns / 1'000'000'000));
    }
    Nap();
  }
  ForgetGone();
  return {};
}

void StoppedProcess::ForgetGone() {
  std::erase_if(threads_, [](const StoppedThread& thread) { return thread.id == 0; });
}

Status StoppedProcess::TryToStop(uint64_t longest_ns) {
  is_out_of_time_ = false;
  while (true) {
    HG_ASSIGN(const size_t fresh, SeizeNewThreads());
    if (fresh == 0) break;
    HG_TRY(WaitForAll(longest_ns));
  }
  if (threads_.empty()) return tl::unexpected(CannotTrace(process_, ESRCH));
  return {};
}

Status StoppedProcess::Stop(pid_t process, uint64_t longest_ns) {
  process_ = process;
  Status status = TryToStop(longest_ns);
  if (status) return status;
  LetAllGo();
  if (!WaitForStragglers(kLongestStragglingNs) || !is_out_of_time_) return status;
  const timespec lost{static_cast<time_t>(stood_still_ns_ / 1'000'000'000),
                      static_cast<long>(stood_still_ns_ % 1'000'000'000)};
  nanosleep(&lost, nullptr);
  status = TryToStop(longest_ns);
  if (status) return status;
  LetAllGo();
  WaitForStragglers(kLongestStragglingNs);
  return status;
}

Status StoppedProcess::StopOne(pid_t process, pid_t thread) {
  process_ = process;
  if (const int error = SeizeFreed(process, thread))
    return tl::unexpected(CannotTrace(process, error));
  first_stop_ns_ = MonotonicNow();
  threads_.push_back({.id = thread});
  Interrupt(thread);
  HG_TRY(WaitForAll(kLongestNs));
  // One of another process may have got its number just before.
  if (threads_.empty() || !threads_[0].stopped || StateOf(process, thread) == 0) {
    return Fail(ErrorCode::kUnavailable, fmt::format("thread {} does not stop", thread));
  }
  return {};
}

uint64_t StoppedProcess::stood_still_ns() const {
  return stood_still_ns_ + (first_stop_ns_ == 0 ? 0 : MonotonicNow() - first_stop_ns_);
}

void StoppedProcess::LetAllGo() {
  std::erase_if(threads_, [](const StoppedThread& thread) {
    if (!thread.stopped) return false;
    heapgauge::leaks::LetGo(thread.id);
    return true;
  });
  stood_still_ns_ = stood_still_ns();
  first_stop_ns_ = 0;
  LetStragglersGo();
}

bool StoppedProcess::WaitForStragglers(uint64_t longest_ns) {
  const uint64_t deadline_ns = MonotonicNow() + longest_ns;
  while (!LetStragglersGo()) {
    if (MonotonicNow() > deadline_ns) return false;
    Nap();
  }
  return true;
}

bool StoppedProcess::LetStragglersGo() {
  std::erase_if(threads_, [this](const StoppedThread& thread) {
    const StopState state = LookAt(thread.id);
    switch (state.kind) {
      case StopKind::kRunning:
        return HasEnded(process_, thread.id);
      case StopKind::kGone:
        return true;
      case StopKind::kTrap:
      case StopKind::kGroupStop: {
        MachineRegisters registers{};
        if (ReadRegisters(thread.id, &registers) && RestartUnlessSignalled(&registers)) {
          WriteRegisters(thread.id, registers);
        }
        heapgauge::leaks::LetGo(thread.id);
        return true;
      }
      case StopKind::kSignal:
      case StopKind::kSystemCall:
      case StopKind::kNewChild:
        Resume(thread.id, state.kind == StopKind::kSignal ? state.signal : 0);
        return false;
    }
    return false;
  });
  return threads_.empty();
}

}  // namespace heapgauge::leaks
