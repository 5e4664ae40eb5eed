// The few functions beside allocation that the agent has to know of: dlclose, after which addresses
// may mean something else, the two ways to install a seccomp filter, after which an unforeseen
// system call may kill the program (prctl and syscall themselves are in entries_ARCH.S), and those
// by which a program gives up its rights, after which it cannot open its gauge file any more.
#include <linux/seccomp.h>
#include <unistd.h>

#include <atomic>
#include <iterator>

#include "agent/hooks/entry_table.h"
#include "agent/record/recorder.h"
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
#ifndef HG_LINKED_IN
int (*real_setuid)(uid_t) = nullptr;
int (*real_seteuid)(uid_t) = nullptr;
int (*real_setreuid)(uid_t, uid_t) = nullptr;
int (*real_setresuid)(uid_t, uid_t, uid_t) = nullptr;
int (*real_chroot)(const char*) = nullptr;
#endif
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
#ifdef HG_LINKED_IN
  const char* const names[] = {"prctl", "syscall", "dlclose"};
#else
  const char* const names[] = {"prctl",   "syscall",  "dlclose",   "setuid",
                               "seteuid", "setreuid", "setresuid", "chroot"};
#endif
  Definition found[std::size(names)];
  FindNextAtStart(reinterpret_cast<const void*>(&hg_real_prctl), names, found, std::size(names));
#ifndef HG_LINKED_IN
  real_setuid = reinterpret_cast<int (*)(uid_t)>(found[3].address);
  real_seteuid = reinterpret_cast<int (*)(uid_t)>(found[4].address);
  real_setreuid = reinterpret_cast<int (*)(uid_t, uid_t)>(found[5].address);
  real_setresuid = reinterpret_cast<int (*)(uid_t, uid_t, uid_t)>(found[6].address);
  real_chroot = reinterpret_cast<int (*)(const char*)>(found[7].address);
#endif
  real_dlclose = reinterpret_cast<int (*)(void*)>(found[2].address);
  hg_real_syscall = reinterpret_cast<AnyFunction>(found[1].address);
  hg_real_prctl = reinterpret_cast<AnyFunction>(found[0].address);
}

// From entries_ARCH.S, before the call that installs the filter, with the first arguments of that.
void hg_before_seccomp(uint64_t first, uint64_t second, uint64_t third) {
  hg_resolve_libc();
  frozen_before = heapgauge::agent::SyscallsFrozen();
  heapgauge::agent::PrepareForSeccomp(IsStrict(first, second, third));
  heapgauge::agent::FreezeSyscalls();
}

// From entries_ARCH.S: there is no filter after all.
void hg_after_failed_seccomp() {
  if (!frozen_before) heapgauge::agent::ThawSyscalls();
}

#ifdef HG_LINKED_IN
#define HG_DLCLOSE heapgauge_linked_dlclose  // linked_dlclose_ARCH.S
#else
#define HG_DLCLOSE dlclose
#endif

extern "C" __attribute__((visibility("default"))) int HG_DLCLOSE(void* handle) {
  hg_resolve_libc();
  const int result = real_dlclose(handle);
  heapgauge::agent::session.CheckModules();
  return result;
}

#ifndef HG_LINKED_IN

namespace {

// Passes a call on, with room made in the file before.
template <typename... Arguments>
int WithOtherRights(int (*const* real)(Arguments...), Arguments... arguments) {
  hg_resolve_libc();
  heapgauge::agent::PrepareForOtherRights(false);
  return (*real)(arguments...);
}

}  // namespace

extern "C" {

#define HG_EXPORTED __attribute__((visibility("default")))

HG_EXPORTED int setuid(uid_t user) noexcept { return WithOtherRights(&real_setuid, user); }
HG_EXPORTED int seteuid(uid_t user) noexcept { return WithOtherRights(&real_seteuid, user); }
HG_EXPORTED int setreuid(uid_t real, uid_t effective) noexcept {
  return WithOtherRights(&real_setreuid, real, effective);
}
HG_EXPORTED int setresuid(uid_t real, uid_t effective, uid_t saved) noexcept {
  return WithOtherRights(&real_setresuid, real, effective, saved);
}
HG_EXPORTED int chroot(const char* path) noexcept {
  hg_resolve_libc();
  heapgauge::agent::PrepareForOtherRights(true);
  return real_chroot(path);
}

#undef HG_EXPORTED

}  // extern "C"

#endif  // HG_LINKED_IN
