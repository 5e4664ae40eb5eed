// gperftools/malloc_hook_c.h: functions of the program to be called at every allocation.
//
// The agent calls nobody at every allocation: that is why it is cheap. So no hook can be added, and
// the functions say so by the return value that gperftools has for it. Where tcmalloc itself is in
// the process, they go to it.
#include <gperftools/malloc_hook_c.h>

#include "compat/common/output.h"

#define HG_EXPORT extern "C" __attribute__((visibility("default")))

using heapgauge::compat::NextAs;

// Adding and removing: 0 is failure. Setting: the hook that was there before, which is none.
#define HG_HOOK(kind)                                                                            \
  HG_EXPORT int MallocHook_Add##kind##Hook(MallocHook_##kind##Hook hook) {                       \
    auto* real = NextAs<int(MallocHook_##kind##Hook)>("MallocHook_Add" #kind "Hook");            \
    return real != nullptr ? real(hook) : 0;                                                     \
  }                                                                                              \
  HG_EXPORT int MallocHook_Remove##kind##Hook(MallocHook_##kind##Hook hook) {                    \
    auto* real = NextAs<int(MallocHook_##kind##Hook)>("MallocHook_Remove" #kind "Hook");         \
    return real != nullptr ? real(hook) : 0;                                                     \
  }                                                                                              \
  HG_EXPORT MallocHook_##kind##Hook MallocHook_Set##kind##Hook(MallocHook_##kind##Hook hook) {   \
    auto* real =                                                                                 \
        NextAs<MallocHook_##kind##Hook(MallocHook_##kind##Hook)>("MallocHook_Set" #kind "Hook"); \
    return real != nullptr ? real(hook) : nullptr;                                               \
  }

HG_HOOK(New)
HG_HOOK(Delete)
HG_HOOK(PreMmap)
HG_HOOK(Mmap)
HG_HOOK(Munmap)
HG_HOOK(Mremap)
HG_HOOK(PreSbrk)
HG_HOOK(Sbrk)

#define HG_REPLACEMENT(kind)                                                                  \
  HG_EXPORT int MallocHook_Set##kind##Replacement(MallocHook_##kind##Replacement hook) {      \
    auto* real =                                                                              \
        NextAs<int(MallocHook_##kind##Replacement)>("MallocHook_Set" #kind "Replacement");    \
    return real != nullptr ? real(hook) : 0;                                                  \
  }                                                                                           \
  HG_EXPORT int MallocHook_Remove##kind##Replacement(MallocHook_##kind##Replacement hook) {   \
    auto* real =                                                                              \
        NextAs<int(MallocHook_##kind##Replacement)>("MallocHook_Remove" #kind "Replacement"); \
    return real != nullptr ? real(hook) : 0;                                                  \
  }

HG_REPLACEMENT(Mmap)
HG_REPLACEMENT(Munmap)

HG_EXPORT int MallocHook_GetCallerStackTrace(void** result, int max_depth, int skip_count) {
  auto* real = NextAs<int(void**, int, int)>("MallocHook_GetCallerStackTrace");
  return real != nullptr ? real(result, max_depth, skip_count) : 0;
}
