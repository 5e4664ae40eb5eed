#include "agent/hooks/libc_hooks.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <iterator>

#include "agent/hooks/entry_table.h"
#include "agent/record/recorder.h"
#include "agent/sys/os.h"
#include "agent/sys/symbol_search.h"

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

void heapgauge::agent::ResolveLibcFunctions() { hg_resolve_libc(); }

// From libc_entries_ARCH.S, before the call that installs the filter, with the first arguments of
// that.
void hg_before_seccomp(uint64_t first, uint64_t second, uint64_t third) {
  hg_resolve_libc();
  frozen_before = heapgauge::agent::SyscallsFrozen();
  heapgauge::agent::PrepareForSeccomp(IsStrict(first, second, third));
  heapgauge::agent::FreezeSyscalls();
}

// From libc_entries_ARCH.S: there is no filter after all.
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

// ---- mmap and its kin ----

// As hg_map_record in libc_entries_ARCH.S lays it out.
struct HgMapCall {
  uintptr_t argument[6];
  heapgauge::agent::Registers caller;
  uint64_t function;
};
static_assert(sizeof(HgMapCall) == 80);

enum MapFunction : uint64_t { kMmap, kMmap64, kMunmap, kMremap, kMapFunctions };

HG_HIDDEN uintptr_t hg_map_call(const HgMapCall* call);
HG_HIDDEN uintptr_t hg_raw_mmap(void* address, size_t length, int protection, int flags, int fd,
                                long offset);
HG_HIDDEN uintptr_t hg_raw_munmap(void* address, size_t length);
HG_HIDDEN uintptr_t hg_raw_mremap(void* address, size_t length, size_t new_length, int flags,
                                  void* new_address);
// Where the exported functions jump to, and the stubs that record; defined in libc_entries_ARCH.S.
HG_HIDDEN heapgauge::agent::AnyFunction hg_map_entry[kMapFunctions];
HG_HIDDEN const heapgauge::agent::AnyFunction hg_map_record_stub[kMapFunctions];

namespace {

using heapgauge::agent::AnyFunction;

AnyFunction next_function[kMapFunctions];
constexpr const char* kMapNames[kMapFunctions] = {"mmap", "mmap64", "munmap", "mremap"};
constexpr uintptr_t kFailed = ~uintptr_t{0};
constexpr uint64_t kPage = 4096;

uint64_t Pages(uint64_t bytes) {
  return bytes > UINT64_MAX - kPage ? 0 : (bytes + kPage - 1) & ~(kPage - 1);
}

// Of a range that the program gives back, as the kernel rounds it; 0 if there is no such range,
// which the kernel refuses.
uint64_t PagesAt(uintptr_t address, uint64_t bytes) {
  constexpr uint64_t kTop = uint64_t{1} << 56;  // of what a program can ever have
  const uint64_t length = Pages(bytes);
  return address % kPage == 0 && address < kTop && length < kTop ? length : 0;
}

// As the C library answers. Not through agent/sys/os.h: these calls are the program's.
uintptr_t Answer(long result) {
  if (result >= 0 || result < -4095) return static_cast<uintptr_t>(result);
  errno = static_cast<int>(-result);
  return kFailed;
}

}  // namespace

uintptr_t hg_raw_mmap(void* address, size_t length, int protection, int flags, int fd,
                      long offset) {
  return Answer(heapgauge::agent::arch::Syscall6(SYS_mmap, reinterpret_cast<long>(address),
                                                 static_cast<long>(length), protection, flags, fd,
                                                 offset));
}

uintptr_t hg_raw_munmap(void* address, size_t length) {
  return Answer(heapgauge::agent::arch::Syscall6(SYS_munmap, reinterpret_cast<long>(address),
                                                 static_cast<long>(length), 0, 0, 0, 0));
}

uintptr_t hg_raw_mremap(void* address, size_t length, size_t new_length, int flags,
                        void* new_address) {
  return Answer(heapgauge::agent::arch::Syscall6(
      SYS_mremap, reinterpret_cast<long>(address), static_cast<long>(length),
      static_cast<long>(new_length), flags, reinterpret_cast<long>(new_address), 0));
}

uintptr_t hg_map_call(const HgMapCall* call) {
  using heapgauge::agent::mappings;
  using Any = uintptr_t(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
  const uintptr_t* a = call->argument;
  auto* next = reinterpret_cast<Any*>(next_function[call->function]);
  const bool of_allocator = heapgauge::agent::IsInsideAllocator(call->caller.pc);
  uint64_t old_length = 0;
  if (call->function == kMunmap) old_length = PagesAt(a[0], a[1]);
  if (call->function == kMremap && (static_cast<int>(a[3]) & 4 /* MREMAP_DONTUNMAP */) == 0) {
    old_length = PagesAt(a[0], a[1]);
  }
  // Before the call: afterwards another thread may be given these addresses.
  const int errno_before = errno;
  heapgauge::wire::MappingRecord taken{};
  if (old_length != 0) mappings.RecordUnmap(a[0], old_length, &taken);
  errno = errno_before;
  const uintptr_t result = next(a[0], a[1], a[2], a[3], a[4], a[5]);
  const int errno_after = errno;
  // munmap answers an int.
  const bool failed =
      call->function == kMunmap ? static_cast<int>(result) == -1 : result == kFailed;
  if (failed) {
    if (old_length != 0) mappings.PutBack(taken);
  } else if (call->function != kMunmap) {
    const bool remap = call->function == kMremap;
    mappings.Record({.address = result,
                     .length = Pages(remap ? a[2] : a[1]),
                     .protection = remap ? taken.protection : static_cast<uint32_t>(a[2]),
                     .map_flags = remap ? taken.map_flags : static_cast<uint32_t>(a[3]),
                     .of_allocator = of_allocator},
                    call->caller);
  }
  errno = errno_after;
  return result;
}

namespace heapgauge::agent {

void ResolveMapFunctions() {
  Definition found[kMapFunctions];
  FindNextAtStart(&next_function, kMapNames, found, kMapFunctions);
  for (uint32_t i = 0; i < kMapFunctions; ++i) {
    next_function[i] = found[i].address != nullptr ? reinterpret_cast<AnyFunction>(found[i].address)
                                                   : hg_map_entry[i];
    hg_map_entry[i] = next_function[i];
  }
}

void StartRecordingMappings() {
  for (uint32_t i = 0; i < kMapFunctions; ++i) hg_map_entry[i] = hg_map_record_stub[i];
}

void HideMapFunctions() {
  for (const char* name : kMapNames) BindOwnSymbol(name, nullptr);
}

}  // namespace heapgauge::agent
