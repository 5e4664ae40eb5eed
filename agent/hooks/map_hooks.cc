#include "agent/hooks/map_hooks.h"

#include <errno.h>
#include <sys/mman.h>

#include "agent/hooks/entry_table.h"
#include "agent/record/recorder.h"
#include "agent/sys/symbol_search.h"
#include "agent/sys/syscall.h"

// As hg_map_record in entries_ARCH.S lays it out.
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
// Where the exported functions jump to, and the stubs that record; defined in entries_ARCH.S.
HG_HIDDEN heapgauge::agent::AnyFunction hg_map_entry[kMapFunctions];
HG_HIDDEN const heapgauge::agent::AnyFunction hg_map_record_stub[kMapFunctions];

namespace {

using heapgauge::agent::AnyFunction;

AnyFunction next_function[kMapFunctions];
constexpr const char* kNames[kMapFunctions] = {"mmap", "mmap64", "munmap", "mremap"};
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

// As the C library answers. Not through agent/sys/syscall.h: these calls are the program's.
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
  FindNextAtStart(&next_function, kNames, found, kMapFunctions);
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
  for (const char* name : kNames) BindOwnSymbol(name, nullptr);
}

}  // namespace heapgauge::agent
