#include "core/leaks/capture/remote_call.h"

#include <errno.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "core/base/text.h"
#include "core/leaks/capture/stopped_process.h"
#include "core/os/memory_maps.h"
#include "core/os/proc_fields.h"
#include "core/os/process.h"

namespace heapgauge::leaks {
namespace {

// Copying the page tables of a terabyte takes seconds.
constexpr uint64_t kLongestCallNs = 20'000'000'000;
constexpr uint64_t kMaxCodeBytes = 64 << 20;
// A signal makes the kernel begin a fork again, and few come while all are blocked.
constexpr int kMostTries = 20;

// Through one of the threads that have not ended.
size_t ReadMemory(pid_t thread, uint64_t address, void* to, size_t size) {
  const iovec local{to, size};
  const iovec remote{reinterpret_cast<void*>(address), size};
  const ssize_t got = process_vm_readv(thread, &local, 1, &remote, 1, 0);
  return got < 0 ? 0 : static_cast<size_t>(got);
}

bool WriteMemory(pid_t thread, uint64_t address, const void* from, size_t size) {
  const iovec local{const_cast<void*>(from), size};
  const iovec remote{reinterpret_cast<void*>(address), size};
  return process_vm_writev(thread, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

void SearchCode(pid_t thread, const MappingUsage& mapping, CallSite* site) {
  constexpr size_t kWindow = 1 << 20;
  constexpr size_t kOverlap = 16;
  std::string window(kWindow + kOverlap, '\0');
  const uint64_t end = std::min(mapping.end, mapping.start + kMaxCodeBytes);
  for (uint64_t at = mapping.start; at < end && !site->complete(); at += kWindow) {
    const size_t size = std::min<uint64_t>(kWindow + kOverlap, end - at);
    const size_t got = ReadMemory(thread, at, window.data(), size);
    if (got == 0) return;
    FindCallSite(std::string_view(window.data(), got), at, site);
  }
}

pid_t LivingThread(pid_t process) {
  const auto info = ReadProcess(static_cast<uint32_t>(process));
  return info ? static_cast<pid_t>(info->thread) : process;
}

bool HasCLibraryName(std::string_view name) {
  name = BaseName(name);
  return name.starts_with("libc.so") || name.starts_with("libc-") || name.starts_with("ld-musl");
}

bool IsAt(pid_t thread, uint64_t CallSite::*part, const CallSite& site) {
  char code[kCallSiteBytes];
  const size_t got = ReadMemory(thread, site.*part, code, sizeof code);
  CallSite found;
  FindCallSite(std::string_view(code, got), site.*part, &found);
  return found.*part == site.*part;
}

// The kernel aborts such a sequence when the thread is interrupted, but no longer knows of it once
// the thread has been elsewhere.
bool IsWithinRestartableSequence(pid_t thread) {
  constexpr auto kGetConfiguration = static_cast<__ptrace_request>(0x420f);
  struct Configuration {
    uint64_t address;
    uint32_t bytes;
    uint32_t signature;
    uint32_t flags;
    uint32_t padding;
  } configuration{};
  if (ptrace(kGetConfiguration, thread, sizeof configuration, &configuration) <= 0) return false;
  if (configuration.address == 0) return false;
  uint64_t sequence = 0;
  return ReadMemory(thread, configuration.address + 8, &sequence, sizeof sequence) !=
             sizeof sequence ||
         sequence != 0;
}

// Whether system calls of the thread can go to a handler of the program (Syscall User Dispatch, by
// which Wine has those of Windows). Linux has it since 5.11, and tells of it since 6.4; before, the
// call ends by SIGSYS, which we take back.
bool MayDispatchCalls(pid_t thread) {
  constexpr auto kGetConfiguration = static_cast<__ptrace_request>(0x4211);
  struct Configuration {
    uint64_t mode;
    uint64_t selector;
    uint64_t offset;
    uint64_t bytes;
  } configuration{};
  return ptrace(kGetConfiguration, thread, sizeof configuration, &configuration) >= 0 &&
         configuration.mode != 0;
}

int Rank(Interruption interruption) {
  switch (interruption) {
    case Interruption::kRestartable:
      return 0;
    case Interruption::kNone:
      return 1;
    case Interruption::kTimed:
      return 2;
    case Interruption::kForeign:
      break;
  }
  return 3;
}

// While a thread is in our call all signals wait, but for the one that the call itself may be
// answered by where we could not know: if it were blocked, the kernel would forget the handler of
// it.
constexpr uint64_t kBlockedSignals = ~(uint64_t{1} << (SIGSYS - 1));

// Waits for the next stop of a thread that is in our call. SIGSTOP cannot be blocked. It gets that
// one: the kernel then knows that the process is to stand still, and sees to it when we let go,
// unless SIGCONT has come by then.
StopState NextStop(pid_t thread, uint64_t deadline_ns) {
  while (true) {
    const StopState state = WaitForStop(thread, deadline_ns);
    int signal = 0;
    if (state.kind == StopKind::kSignal) {
      if (state.signal != SIGSTOP) return state;
      signal = SIGSTOP;
    } else if (state.kind != StopKind::kTrap && state.kind != StopKind::kGroupStop) {
      return state;
    }
    if (ResumeToSystemCall(thread, signal) != 0) return {StopKind::kGone, 0};
  }
}

tl::unexpected<Error> NotBegun(const std::string& what) {
  return Fail(ErrorCode::kUnsupported, what);
}

tl::unexpected<Error> CallFailed(pid_t thread, const char* what) {
  return Fail(ErrorCode::kUnavailable,
              fmt::format("thread {} could not be made to call the kernel: {}", thread, what));
}

// Has the thread make the call that it is prepared for, and stop at its end. If it stops before a
// signal instead it is for the caller to see to that (ErrorCode::kUnsupported).
Status RunCall(pid_t thread, uint64_t deadline_ns, RemoteResult* result) {
  for (int stops = 0; stops < 2;) {
    if (ResumeToSystemCall(thread, 0) != 0) return CallFailed(thread, "it is gone");
    const StopState state = NextStop(thread, deadline_ns);
    if (state.kind == StopKind::kSystemCall) {
      ++stops;
    } else if (state.kind == StopKind::kNewChild) {
      unsigned long child = 0;
      // It fails only if the thread was killed.
      ptrace(PTRACE_GETEVENTMSG, thread, nullptr, &child);
      result->child = static_cast<pid_t>(child);
    } else if (state.kind == StopKind::kSignal) {
      return NotBegun("it got a signal instead");
    } else {
      return CallFailed(thread, state.kind == StopKind::kGone ? "it has ended" : "it did not");
    }
  }
  MachineRegisters after{};
  if (!ReadRegisters(thread, &after)) return CallFailed(thread, "it is gone");
  result->value = ResultOf(after);
  return {};
}

// The signal that a thread has stopped for, if it is one; 0 if that is the kernel's answer to what
// we made it do.
int SignalOfItsOwn(pid_t thread) {
  siginfo_t info{};
  if (ptrace(PTRACE_GETSIGINFO, thread, nullptr, &info) != 0) return 0;
  return info.si_code > 0 ? 0 : info.si_signo;
}

// Gives its own state back to a thread, and has it stop again. In an order in which it may be left
// alone between any two steps. The interruption makes the kernel look for signals on the way out,
// and there start a system call again that we had stopped.
bool GiveBack(pid_t thread, const MachineRegisters& saved, uint64_t mask, int signal) {
  // None of these fails unless the thread was killed.
  return WriteSignalMask(thread, mask) == 0 && Interrupt(thread) == 0 &&
         WriteRegisters(thread, saved) && ptrace(PTRACE_SETOPTIONS, thread, nullptr, 0L) == 0 &&
         Resume(thread, signal) == 0;
}

// True if it has, as asked for.
bool WaitUntilStopped(pid_t thread, uint64_t deadline_ns) {
  while (true) {
    const StopState state = WaitForStop(thread, deadline_ns);
    if (state.kind == StopKind::kTrap || state.kind == StopKind::kGroupStop) return true;
    if (state.kind != StopKind::kSignal) return false;
    const int signal = state.signal == SIGSYS ? SignalOfItsOwn(thread) : state.signal;
    if (Resume(thread, signal) != 0) return false;
  }
}

}  // namespace

CallSite FindCallSiteOf(pid_t process) {
  CallSite site;
  const pid_t thread = LivingThread(process);
  const auto maps = ReadSmaps(fmt::format("/proc/{}/maps", thread));
  if (!maps) return site;
  for (const MappingUsage& m : maps->mappings) {
    if (m.executable && m.readable && HasCLibraryName(m.name)) SearchCode(thread, m, &site);
    if (site.complete()) return site;
  }
  // A static program has it within itself.
  const std::string program = ProcessExecutable(static_cast<uint32_t>(process));
  for (const MappingUsage& m : maps->mappings) {
    if (m.executable && m.readable && m.name == program) SearchCode(thread, m, &site);
  }
  return site;
}

bool HasCallSite(pid_t process, const CallSite& site) {
  if (!site.complete()) return false;
  const pid_t thread = LivingThread(process);
  return IsAt(thread, &CallSite::system_call, site) &&
         IsAt(thread, &CallSite::handler_return, site);
}

bool HasOnlyInheritedFilters(const std::string& theirs, const std::string& ours,
                             const std::string& first) {
  const std::string filters = StatusField(theirs, "Seccomp_filters");
  if (filters.empty()) return false;
  for (const std::string* status : {&theirs, &ours, &first}) {
    if (StatusField(*status, "Seccomp") != "2") return false;
    if (StatusField(*status, "Seccomp_filters") != filters) return false;
  }
  return true;
}

std::string WhyNoCalls(pid_t process, pid_t thread) {
  const std::string theirs = ReadStatus(fmt::format("/proc/{}/task/{}", process, thread));
  if (theirs.empty()) return "its status may not be read";
  if (StatusField(theirs, "x86_Thread_features").find("shstk") != std::string::npos) {
    return "it uses a shadow stack";
  }
  const std::string mode = StatusField(theirs, "Seccomp");
  if (mode == "0" || mode.empty()) return "";
  if (HasOnlyInheritedFilters(theirs, ReadStatus("/proc/self"), ReadStatus("/proc/1"))) return "";
  return "it has a filter of system calls (seccomp)";
}

std::vector<Caller> FindCallers(StoppedProcess* process) {
  std::vector<Caller> callers;
  const auto maps = ReadSmaps(fmt::format("/proc/{}/maps", LivingThread(process->process())));
  if (!maps) return callers;
  const StackMappings stacks = FindStacks(maps->mappings, {});
  for (StoppedThread& thread : process->threads()) {
    if (!thread.stopped || InterruptionOf(thread.registers) == Interruption::kForeign) continue;
    const uint64_t sp = StackPointerOf(thread.registers);
    auto it =
        std::upper_bound(maps->mappings.begin(), maps->mappings.end(), sp,
                         [](uint64_t address, const MappingUsage& m) { return address < m.start; });
    if (it == maps->mappings.begin()) continue;
    --it;
    if (sp >= it->end || !stacks.is_stack[static_cast<size_t>(it - maps->mappings.begin())]) {
      continue;
    }
    // There are no system calls in one.
    if (InterruptionOf(thread.registers) == Interruption::kNone &&
        IsWithinRestartableSequence(thread.id)) {
      continue;
    }
    callers.push_back({&thread, sp - it->start});
  }
  std::stable_sort(callers.begin(), callers.end(), [](const Caller& a, const Caller& b) {
    return Rank(InterruptionOf(a.thread->registers)) < Rank(InterruptionOf(b.thread->registers));
  });
  return callers;
}

Result<RemoteResult> CallIn(pid_t process, const Caller& caller, const CallSite& site,
                            const SystemCall& call) {
  const pid_t thread = caller.thread->id;
  const MachineRegisters saved = caller.thread->registers;
  if (const std::string why = WhyNoCalls(process, thread); !why.empty()) return NotBegun(why);
  if (MayDispatchCalls(thread)) return NotBegun("it handles system calls itself");
  if (!HasCallSite(process, site)) return NotBegun("it runs another program by now");
  uint64_t mask = 0;
  if (ReadSignalMask(thread, &mask) != 0) return NotBegun("its signals are not known");
  const auto prepared = PrepareCall(thread, saved, mask, site, call, caller.room);
  if (!prepared) return NotBegun("its stack has too little room");
  if (!WriteMemory(thread, prepared->address, prepared->bytes.data(), prepared->bytes.size())) {
    return NotBegun("its stack cannot be written to");
  }
  constexpr long kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE;
  if (ptrace(PTRACE_SETOPTIONS, thread, nullptr, kOptions) != 0) {
    return NotBegun("no options");
  }
  // From here on the thread restores itself if we are gone.
  if (!WriteRegisters(thread, prepared->registers)) {
    return NotBegun("its registers cannot be written");
  }
  if (WriteSignalMask(thread, mask | kBlockedSignals) != 0) return CallFailed(thread, "it is gone");
  RemoteResult result;
  const uint64_t deadline_ns = MonotonicNow() + kLongestCallNs;
  Status made;
  for (int i = 0; i < kMostTries; ++i) {
    made = RunCall(thread, deadline_ns, &result);
    if (!made || !IsMadeAgain(result.value)) break;
  }
  if (!made && made.error().code != ErrorCode::kUnsupported) return tl::unexpected(made.error());
  if (IsMadeAgain(result.value)) result.value = -EAGAIN;
  const int signal = made ? 0 : SignalOfItsOwn(thread);
  if (!GiveBack(thread, saved, mask, signal)) return CallFailed(thread, "it is gone");
  caller.thread->stopped =
      WaitUntilStopped(thread, deadline_ns) && ReadRegisters(thread, &caller.thread->registers);
  if (!made) return tl::unexpected(made.error());
  return result;
}

}  // namespace heapgauge::leaks
