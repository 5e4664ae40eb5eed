#include "agent/hooks/exit_hooks.h"

#include <cstdint>
#include <initializer_list>

#include "agent/hooks/entry_table.h"
#include "agent/hooks/exit_check.h"
#include "agent/record/recorder.h"
#include "agent/sys/symbol_search.h"
#include "agent/sys/visibility.h"

// For exit_entries_ARCH.S.
HG_HIDDEN heapgauge::agent::AnyFunction hg_real_exit;
HG_HIDDEN heapgauge::agent::AnyFunction hg_real_underscore_exit;
HG_HIDDEN void hg_before_exit(uintptr_t sp);
HG_HIDDEN void hg_before_direct_exit(uintptr_t sp);

heapgauge::agent::AnyFunction hg_real_exit = nullptr;
heapgauge::agent::AnyFunction hg_real_underscore_exit = nullptr;

namespace heapgauge::agent {
namespace {

void ResolveExit() {
  if (hg_real_underscore_exit != nullptr) return;
  const char* const names[] = {"exit", "_exit"};
  Definition found[2];
  FindNextAtStart(reinterpret_cast<const void*>(&BindExitFunctions), names, found, 2);
  hg_real_exit = reinterpret_cast<AnyFunction>(found[0].address);
  hg_real_underscore_exit = reinterpret_cast<AnyFunction>(found[1].address);
}

void EndAtOnce(uintptr_t sp) {
  CheckLeaksAtOnce(sp);
  EndRecordingAtOnce();
}

void AtQuickExit(void*) {
  const auto* const frame = static_cast<const uintptr_t*>(__builtin_frame_address(0));
  EndAtOnce(reinterpret_cast<uintptr_t>(frame + 2));  // of the caller
}

}  // namespace

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
  heapgauge::agent::NoteExitCall(sp);
}

void hg_before_direct_exit(uintptr_t sp) {
  heapgauge::agent::ResolveExit();
  heapgauge::agent::EndAtOnce(sp);
}
