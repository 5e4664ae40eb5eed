#include "core/formats/text/legacy_frames.h"

namespace heapgauge {
namespace {

constexpr const char* kAllocator =
    // The C interface; tcmalloc's names for it; those of macOS.
    "(tc_)?(malloc|calloc|realloc|free|cfree|memalign|posix_memalign|valloc|pvalloc)|"
    "__posix_memalign|do_memalign|__libc_malloc|"
    "malloc_zone_(malloc|calloc|valloc|realloc|memalign|free)|"
    // C++ operators, also as tcmalloc and old compilers call them.
    "operator new(\\[\\])?|tc_(new|delete)(array)?|tc_new(array)?_nothrow|"
    "__builtin_(vec_)?(new|delete)|"
    // Allocators' insides.
    "tcmalloc::.*|BaseArena::.*|(::)?do_malloc(_no_errno|_pages)?|cpp_alloc|DoSampledAllocation|"
    "MallocedMemBlock::MallocedMemBlock|"
    // The C++ library's way to them.
    "(__gnu_cxx::new_allocator::|__malloc_alloc_template::|simple_alloc::)?allocate|_M_allocate|"
    // Go's runtime.
    "runtime\\..*";

// Frames of Go's runtime that are part of the program's story.
constexpr const char* kKept = "runtime\\.(panic|reflectcall|call[0-9]*)";

// jemalloc's own frames, which pprof does not know since it does not read jemalloc's format.
constexpr const char* kJemalloc =
    "(je_|_rjem_|jemalloc_|prof_|tsd_|ckh_|tcache_|arena_|large_|iallocztm|ipalloct).*|"
    "(aligned_alloc|mallocx|rallocx|xallocx|reallocarray|imalloc.*|ialloc.*|malloc_default|"
    "fallback(New|_new)?_?[iI]mpl.*|newImpl.*|handleOOM.*|do_rallocx|operator new.*)";

constexpr const char* kLocks =
    "(base::)?(RecordLockProfileData|SubmitMutexProfileData|SubmitSpinLockProfileData).*|"
    "((base::)?Mutex::)?(AwaitCommon|Unlock|ReaderUnlock).*|"
    "((base::)?MutexLock::)?~MutexLock.*|"
    "(SpinLock::)?(Unlock|SlowUnlock).*|(SpinLockHolder::)?~SpinLockHolder.*";

constexpr const char* kProfiler =
    "ProfileData::(Add|prof_handler)|CpuProfiler::prof_handler|__pthread_sighandler|__restore";

}  // namespace

void SetLegacyFrames(LegacyKind kind, Profile* profile) {
  profile->keep_frames.clear();
  switch (kind) {
    case LegacyKind::kHeap:
      profile->drop_frames = kAllocator;
      profile->keep_frames = kKept;
      break;
    case LegacyKind::kJemalloc:
      profile->drop_frames = std::string(kAllocator) + "|" + kJemalloc;
      profile->keep_frames = kKept;
      break;
    case LegacyKind::kContention:
      profile->drop_frames = kLocks;
      break;
    case LegacyKind::kOther:
      profile->drop_frames = kProfiler;
      break;
  }
}

}  // namespace heapgauge
