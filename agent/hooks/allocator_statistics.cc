#include "agent/hooks/allocator_statistics.h"

#include <errno.h>
#include <malloc.h>

#include "agent/hooks/entry_table.h"
#include "agent/sys/os.h"
#include "agent/sys/symbol_search.h"
#include "agent/sys/try_lock.h"

namespace heapgauge::agent {
namespace {

// glibc
struct mallinfo2 (*glibc_mallinfo2)() = nullptr;
// jemalloc
int (*je_mallctl)(const char*, void*, size_t*, void*, size_t) = nullptr;
// gperftools
int (*tc_property)(const char*, size_t*) = nullptr;
// mimalloc
void (*mi_info)(size_t*, size_t*, size_t*, size_t*, size_t*, size_t*, size_t*, size_t*) = nullptr;

TryLock collecting;

// The members in the order of their bits in `mask`.
enum Figure : uint32_t { kMapped, kResident, kInUse, kFree, kCached, kMetadata };

void Set(wire::AllocatorStatistics* s, Figure figure, uint64_t value) {
  (&s->mapped_bytes)[figure] = value;
  s->mask |= uint32_t{1} << figure;
}

uint64_t Minus(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

void AskGlibc(wire::AllocatorStatistics* s) {
  const struct mallinfo2 info = glibc_mallinfo2();
  Set(s, kMapped, info.arena + info.hblkhd);
  // Headers of blocks, and what threads keep in their caches, count as in use.
  Set(s, kInUse, info.uordblks + info.hblkhd);
  Set(s, kFree, info.fordblks);
}

bool AskJemalloc(const char* name, uint64_t* value) {
  size_t size = sizeof *value;
  *value = 0;
  return je_mallctl(name, value, &size, nullptr, 0) == 0 && size == sizeof *value;
}

void AskJemalloc(wire::AllocatorStatistics* s) {
  uint64_t epoch = 1;  // its figures are those of the last change of this number
  size_t size = sizeof epoch;
  if (je_mallctl("epoch", &epoch, &size, &epoch, size) != 0) return;
  uint64_t allocated = 0;
  uint64_t metadata = 0;
  uint64_t resident = 0;
  uint64_t mapped = 0;
  uint64_t cached = 0;
  if (AskJemalloc("stats.mapped", &mapped)) Set(s, kMapped, mapped);
  if (AskJemalloc("stats.resident", &resident)) Set(s, kResident, resident);
  const bool has_metadata = AskJemalloc("stats.metadata", &metadata);
  if (has_metadata) Set(s, kMetadata, metadata);
  // 4096 stands for all arenas together.
  const bool has_cached = AskJemalloc("stats.arenas.4096.tcache_bytes", &cached);
  if (AskJemalloc("stats.allocated", &allocated)) {
    // Blocks in caches of threads count as allocated.
    if (has_cached) Set(s, kCached, cached);
    Set(s, kInUse, Minus(allocated, cached));
    if (resident != 0 && has_metadata) Set(s, kFree, Minus(resident, allocated + metadata));
  }
  uint32_t arenas = 0;
  size = sizeof arenas;
  if (je_mallctl("arenas.narenas", &arenas, &size, nullptr, 0) == 0) s->arenas = arenas;
}

bool AskTcmalloc(const char* name, uint64_t* value) {
  size_t figure = 0;
  if (tc_property(name, &figure) == 0) return false;
  *value = figure;
  return true;
}

void AskTcmalloc(wire::AllocatorStatistics* s) {
  uint64_t in_use = 0;
  uint64_t heap = 0;
  uint64_t given_back = 0;
  uint64_t pages = 0;
  uint64_t central = 0;
  uint64_t transfer = 0;
  uint64_t cached = 0;
  if (AskTcmalloc("generic.current_allocated_bytes", &in_use)) Set(s, kInUse, in_use);
  if (AskTcmalloc("generic.heap_size", &heap)) {
    AskTcmalloc("tcmalloc.pageheap_unmapped_bytes", &given_back);
    Set(s, kMapped, Minus(heap, given_back));
  }
  if (AskTcmalloc("tcmalloc.pageheap_free_bytes", &pages)) {
    AskTcmalloc("tcmalloc.central_cache_free_bytes", &central);
    AskTcmalloc("tcmalloc.transfer_cache_free_bytes", &transfer);
    Set(s, kFree, pages + central + transfer);
  }
  if (AskTcmalloc("tcmalloc.current_total_thread_cache_bytes", &cached)) Set(s, kCached, cached);
}

void AskMimalloc(wire::AllocatorStatistics* s) {
  size_t ignored = 0;
  size_t commit = 0;
  mi_info(&ignored, &ignored, &ignored, &ignored, &ignored, &commit, &ignored, &ignored);
  if (commit != 0) Set(s, kMapped, commit);
}

template <typename Function>
void Find(uintptr_t inside, const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(FindIn(inside, name));
}

}  // namespace

void ResolveAllocatorStatistics() {
  const auto inside = reinterpret_cast<uintptr_t>(hg_real[kFn_malloc]);
  if (inside == 0) return;
  switch (Traits().identity.kind) {
    case wire::Allocator::kGlibc:
      return Find(inside, "mallinfo2", &glibc_mallinfo2);
    case wire::Allocator::kJemalloc:
      return Find(inside, "mallctl", &je_mallctl);
    case wire::Allocator::kTcmalloc:
      return Find(inside, "MallocExtension_GetNumericProperty", &tc_property);
    case wire::Allocator::kMimalloc:
      return Find(inside, "mi_process_info", &mi_info);
    case wire::Allocator::kUnknown:
      return;
  }
}

bool CollectAllocatorStatistics(wire::AllocatorStatistics* statistics) {
  if (!collecting.Lock()) return false;
  const int errno_before = errno;
  *statistics = {};
  if (glibc_mallinfo2 != nullptr) {
    AskGlibc(statistics);
  } else if (je_mallctl != nullptr) {
    AskJemalloc(statistics);
  } else if (tc_property != nullptr) {
    AskTcmalloc(statistics);
  } else if (mi_info != nullptr && !SyscallsFrozen()) {  // it asks the kernel as well
    AskMimalloc(statistics);
  }
  errno = errno_before;
  collecting.Unlock();
  return statistics->mask != 0;
}

}  // namespace heapgauge::agent
