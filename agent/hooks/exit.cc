#include "agent/hooks/exit.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <initializer_list>

#include "agent/hooks/entry_table.h"
#include "agent/leaks/ask_check.h"
#include "agent/record/recorder.h"
#include "agent/sys/os.h"
#include "agent/sys/symbol_search.h"
#include "agent/sys/thread_state.h"
#include "agent/unwind/plain_walk.h"

// For preserving_entries_ARCH.S.
HG_HIDDEN heapgauge::agent::AnyFunction hg_real_exit;
HG_HIDDEN heapgauge::agent::AnyFunction hg_real_underscore_exit;
HG_HIDDEN void hg_before_exit(uintptr_t sp);
HG_HIDDEN void hg_before_direct_exit(uintptr_t sp);

heapgauge::agent::AnyFunction hg_real_exit = nullptr;
heapgauge::agent::AnyFunction hg_real_underscore_exit = nullptr;

namespace heapgauge::agent {
namespace {

// ---- the leak check ----

using FreeAll = void();
using RegisterOnExit = int(void (*)(int, void*), void*);

// Of the exit that is on its way, as the hook saw it.
std::atomic<uintptr_t> exit_sp{0};
uintptr_t exit_start = 0;  // libc's exit itself
uintptr_t exit_end = 0;
bool checks = false;  // leaks, at the end
TraceSettings::Freeing freeing = TraceSettings::Freeing::kNever;
std::atomic<uint32_t> checked{0};  // id of the process that was

// The stack of the thread that called exit, without the part that belongs to libc's way out: old
// words lie between its frames. `caller` is in the innermost one.
[[gnu::noinline]] uintptr_t ProgramsStack(const Registers& caller) {
  const uintptr_t hooked = exit_sp.load();
  constexpr uintptr_t kNear = uintptr_t{1} << 20;
  if (hooked > caller.sp && hooked - caller.sp < kNear) return hooked;
  // After the return from main: __libc_start_call_main, __libc_start_main and _start are left.
  constexpr uint32_t kMost = 12;
  constexpr uint32_t kLeftBehindMain = 3;
  PlainFrame frames[kMost];
  StackMemory memory;
  const PlainWalk walk = WalkPlain(caller, RuleSource::kEvaluate, &memory, frames, kMost);
  for (uint32_t i = 0; i + 1 < walk.count; ++i) {
    const uintptr_t call = frames[i].pc - 1;  // may be its last instruction
    if (call < exit_start || call >= exit_end) continue;
    if (walk.complete() && walk.count - i - 1 == kLeftBehindMain) return frames[i + 1].sp;
    break;
  }
  return caller.sp;
}

Registers CallerOf(const void* frame) {
  const auto* const words = static_cast<const uintptr_t*>(frame);
  return {words[1], reinterpret_cast<uintptr_t>(words + 2), words[0]};
}

bool IsOnlyThread() {
  struct stat status;  // a directory has two links, and one for each directory in it
  const long result = Syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &status, 0);
  return result == 0 && status.st_nlink <= 3;
}

// The libraries may have been loaded by the program itself, so they are looked for only now; and a
// program may have the C++ library inside it. True if libc is of no use any more.
bool FreeLibraries() {
  if (freeing == TraceSettings::Freeing::kNever) return false;
  const char* const names[] = {"_ZN9__gnu_cxx9__freeresEv", "__libc_freeres"};
  Definition found[2];
  FindNext(reinterpret_cast<const void*>(&StartExitCheck), names, found, 2);
  if (void* const own = FindIn(getauxval(AT_ENTRY), names[0])) found[0].address = own;
  if (found[0].address != nullptr) reinterpret_cast<FreeAll*>(found[0].address)();
  if (found[1].address == nullptr) return false;
  if (freeing == TraceSettings::Freeing::kIfAlone && !IsOnlyThread()) return false;
  reinterpret_cast<FreeAll*>(found[1].address)();
  return true;
}

bool BeginCheck() {
  if (SyscallsFrozen()) session.WantNoExitCheck();
  if (!CanAskForCheck()) return false;
  const uint32_t self = os::ProcessId();
  return checked.exchange(self) != self;
}

void Ask(uintptr_t stack_pointer) {
  wire::LeakControl words;
  AskForCheck(&LeakQuestions, {wire::CheckReason::kExit, 0, stack_pointer}, &words);
}

void AtExit(int status, void*) {
  if (!BeginCheck()) return;
  const uintptr_t sp = ProgramsStack(CallerOf(__builtin_frame_address(0)));
  const bool is_over = FreeLibraries();
  Ask(sp);
  if (is_over) Syscall(SYS_exit_group, status);
}

// ---- the hooks ----

void ResolveExit() {
  if (hg_real_underscore_exit != nullptr) return;
  const char* const names[] = {"exit", "_exit"};
  Definition found[2];
  FindNextAtStart(reinterpret_cast<const void*>(&BindExitFunctions), names, found, 2);
  hg_real_exit = reinterpret_cast<AnyFunction>(found[0].address);
  hg_real_underscore_exit = reinterpret_cast<AnyFunction>(found[1].address);
}

void EndAtOnce(uintptr_t sp) {
  if (checks && BeginCheck()) Ask(sp);
  EndRecordingAtOnce();
}

void AtQuickExit(void*) {
  const auto* const frame = static_cast<const uintptr_t*>(__builtin_frame_address(0));
  EndAtOnce(reinterpret_cast<uintptr_t>(frame + 2));  // of the caller
}

}  // namespace

void StartExitCheck(TraceSettings::Freeing when) {
  const char* const name = "exit";
  Definition found;
  FindNextAtStart(reinterpret_cast<const void*>(&StartExitCheck), &name, &found, 1);
  exit_start = reinterpret_cast<uintptr_t>(found.address);
  exit_end = exit_start + found.bytes;
  checks = true;
  freeing = when;
  auto* const on_exit = reinterpret_cast<RegisterOnExit*>(FindInLibc("on_exit"));
  if (on_exit != nullptr) on_exit(&AtExit, nullptr);
}

void BindExitFunctions(bool checks_leaks) {
  ResolveExit();
  if (!checks_leaks || hg_real_exit == nullptr) BindOwnSymbol("exit", nullptr);
  if (hg_real_underscore_exit != nullptr) return;
  for (const char* name : {"_exit", "_Exit"}) BindOwnSymbol(name, nullptr);
}

void NoticeQuickExit() {
  using Register = int(void (*)(void*), void*);
  auto* const at_quick_exit = reinterpret_cast<Register*>(FindInLibc("__cxa_at_quick_exit"));
  if (at_quick_exit != nullptr) at_quick_exit(&AtQuickExit, nullptr);
}

}  // namespace heapgauge::agent

void hg_before_exit(uintptr_t sp) {
  heapgauge::agent::ResolveExit();
  heapgauge::agent::exit_sp.store(sp);
}

void hg_before_direct_exit(uintptr_t sp) {
  heapgauge::agent::ResolveExit();
  heapgauge::agent::EndAtOnce(sp);
}
