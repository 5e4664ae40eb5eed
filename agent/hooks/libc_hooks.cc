// The few functions beside allocation that the agent has to know of: dlclose, after which addresses
// may mean something else, and the two ways to install a seccomp filter, after which an unforeseen
// system call may kill the program. prctl and syscall themselves are in entries.S.
#include <linux/seccomp.h>

#include <atomic>

#include "agent/hooks/entry_table.h"
#include "agent/recorder.h"
#include "agent/sys/symbol_search.h"
#include "agent/sys/syscall.h"

HG_HIDDEN heapgauge::agent::AnyFunction hg_real_prctl;
HG_HIDDEN heapgauge::agent::AnyFunction hg_real_syscall;
HG_HIDDEN void hg_resolve_libc();
HG_HIDDEN void hg_before_seccomp(uint64_t first, uint64_t second, uint64_t third);
HG_HIDDEN void hg_after_failed_seccomp();

heapgauge::agent::AnyFunction hg_real_prctl = nullptr;
heapgauge::agent::AnyFunction hg_real_syscall = nullptr;

namespace {

int (*real_dlclose)(void*) = nullptr;
bool frozen_before = false;  // by a filter that was installed earlier

// prctl(PR_SET_SECCOMP, mode), syscall(SYS_prctl, PR_SET_SECCOMP, mode) or syscall(SYS_seccomp,
// operation): does it allow four system calls and no look at the clock?
bool IsStrict(uint64_t first, uint64_t second, uint64_t third) {
  if (first == SYS_seccomp) return static_cast<uint32_t>(second) == SECCOMP_SET_MODE_STRICT;
  return (first == SYS_prctl ? third : second) == SECCOMP_MODE_STRICT;
}

}  // namespace

void hg_resolve_libc() {
  using namespace heapgauge::agent;
  // Once, by the constructor as a rule: before any thread, and without the dynamic linker's lock.
  if (hg_real_prctl != nullptr) return;
  const char* const names[] = {"prctl", "syscall", "dlclose"};
  Definition found[3];
  FindNextAtStart(reinterpret_cast<const void*>(&hg_real_prctl), names, found, 3);
  real_dlclose = reinterpret_cast<int (*)(void*)>(found[2].address);
  hg_real_syscall = reinterpret_cast<AnyFunction>(found[1].address);
  hg_real_prctl = reinterpret_cast<AnyFunction>(found[0].address);
}

// From entries.S, before the call that installs the filter, with the first arguments of that.
void hg_before_seccomp(uint64_t first, uint64_t second, uint64_t third) {
  hg_resolve_libc();
  frozen_before = heapgauge::agent::SyscallsFrozen();
  heapgauge::agent::recorder.PrepareForSeccomp(IsStrict(first, second, third));
  heapgauge::agent::FreezeSyscalls();
}

// From entries.S: there is no filter after all.
void hg_after_failed_seccomp() {
  if (!frozen_before) heapgauge::agent::ThawSyscalls();
}

#ifdef HG_LINKED_IN
#define HG_DLCLOSE heapgauge_linked_dlclose  // linked_dlclose.S
#else
#define HG_DLCLOSE dlclose
#endif

extern "C" __attribute__((visibility("default"))) int HG_DLCLOSE(void* handle) {
  hg_resolve_libc();
  const int result = real_dlclose(handle);
  heapgauge::agent::recorder.CheckModules();
  return result;
}
