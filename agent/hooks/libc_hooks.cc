// The few functions beside allocation that the agent has to know of: dlclose, after which addresses may
// mean something else, and the two ways to install a seccomp filter, after which an unforeseen system
// call may kill the program. prctl and syscall themselves are in entries.S.
#include <atomic>

#include "agent/hooks/entry_table.h"
#include "agent/recorder.h"
#include "agent/sys/symbol_search.h"
#include "agent/sys/syscall.h"

HG_HIDDEN heapgauge::agent::AnyFunction hg_real_prctl;
HG_HIDDEN heapgauge::agent::AnyFunction hg_real_syscall;
HG_HIDDEN void hg_resolve_libc();
HG_HIDDEN void hg_before_seccomp();

heapgauge::agent::AnyFunction hg_real_prctl = nullptr;
heapgauge::agent::AnyFunction hg_real_syscall = nullptr;

namespace {

int (*real_dlclose)(void*) = nullptr;

}  // namespace

void hg_resolve_libc() {
  using namespace heapgauge::agent;
  const char* const names[] = {"prctl", "syscall", "dlclose"};
  Definition found[3];
  FindNext(reinterpret_cast<const void*>(&hg_real_prctl), names, found, 3);
  hg_real_prctl = reinterpret_cast<AnyFunction>(found[0].address);
  hg_real_syscall = reinterpret_cast<AnyFunction>(found[1].address);
  real_dlclose = reinterpret_cast<int (*)(void*)>(found[2].address);
}

// From entries.S, before the call that installs the filter.
void hg_before_seccomp() {
  if (hg_real_prctl == nullptr) hg_resolve_libc();
  heapgauge::agent::recorder.PrepareForSeccomp();
  heapgauge::agent::FreezeSyscalls();
}

extern "C" __attribute__((visibility("default"))) int dlclose(void* handle) {
  if (real_dlclose == nullptr) hg_resolve_libc();
  const int result = real_dlclose(handle);
  heapgauge::agent::recorder.CheckModules();
  heapgauge::agent::ForgetOperatorsOfPlugins();
  return result;
}
