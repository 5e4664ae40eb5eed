// Symbol search for an agent that is linked into the program (libheapgauge.a), which may have no
// dynamic linker and no symbol table. The linker was told to send every call of a hooked function
// FN to __wrap_FN, and gives us the real one as __real_FN (heapgauge.link); what nobody defines is
// null.
//
// All of it lies in one object, so the object does not tell an allocator's operator new from
// libstdc++'s, which calls malloc and must not be counted twice. It is tried out whether malloc is
// called: by jemalloc's it is not, nor, as far as we can see, by that of a shared libstdc++.
#include <time.h>

#include <atomic>
#include <cstring>

#include "agent/hooks/entry_table.h"
#include "agent/sys/os.h"
#include "agent/sys/symbol_search.h"

// Functions beside the hooked ones that the hooks pass on.
#define HG_PASSED_ON(X) X(prctl) X(syscall) X(dlclose) X(mmap) X(mmap64) X(munmap) X(mremap)
// What tells allocators apart, and how they are asked for their figures.
#define HG_ALLOCATORS_OWN(X) \
  X(mallctl) X(mi_malloc) X(mi_process_info) X(tc_malloc) X(MallocExtension_GetNumericProperty)

#define X(name, ...) extern "C" __attribute__((weak)) void __real_##name();
HG_FUNCTIONS(X)
HG_PASSED_ON(X)
#undef X
#define X(name) extern "C" __attribute__((weak)) void name();
HG_ALLOCATORS_OWN(X)
#undef X
extern "C" __attribute__((weak)) void mallinfo2();

// heapgauge.link asks for this by name, so that the agent is in the program whatever it calls.
extern "C" __attribute__((visibility("default"))) const char heapgauge_linked_in[];
const char heapgauge_linked_in[] = "heapgauge";

namespace heapgauge::agent {
namespace {

struct Known {
  const char* name;
  void (*function)();
};

const Known kReal[] = {
#define X(name, ...) {#name, &__real_##name},
    HG_FUNCTIONS(X) HG_PASSED_ON(X)
#undef X
};

const Known kOwn[] = {
#define X(name) {#name, &name},
    HG_ALLOCATORS_OWN(X)
#undef X
};

template <size_t kCount>
void* Find(const Known (&table)[kCount], const char* name) {
  for (const Known& known : table) {
    if (strcmp(known.name, name) == 0) return reinterpret_cast<void*>(known.function);
  }
  return nullptr;
}

// Stand for objects; no address lies in them.
constexpr uintptr_t kAllocator = 1;
constexpr uintptr_t kOther = 2;

bool malloc_was_called;

void* NotingMalloc(size_t size) {
  malloc_was_called = true;
  return reinterpret_cast<void* (*)(size_t)>(&__real_malloc)(size);
}

// Whether operator new does not come through malloc. Nothing is counted yet, and hg_entry is ours.
bool OperatorsBypassMalloc() {
  if (&__real__Znwm == nullptr || &__real__ZdlPv == nullptr) return false;
  hg_entry[kFn_malloc] = reinterpret_cast<AnyFunction>(&NotingMalloc);
  hg_entry[kFn_free] = &__real_free;
  void* block = reinterpret_cast<void* (*)(size_t)>(&__real__Znwm)(1);
  reinterpret_cast<void (*)(void*)> (&__real__ZdlPv)(block);
  return !malloc_was_called;
}

char program[1024];

}  // namespace

void FindNextAtStart(const void* self, const char* const* names, Definition* definitions,
                     size_t count) {
  FindNext(self, names, definitions, count);
}

void FindNext(const void*, const char* const* names, Definition* definitions, size_t count) {
  static bool operators_count;
  if (count == kFunctionCount) operators_count = OperatorsBypassMalloc();
  if (program[0] == '\0') os::ReadLink("/proc/self/exe", program, sizeof program);
  for (size_t i = 0; i < count; ++i) {
    definitions[i].address = Find(kReal, names[i]);
    const bool is_operator = names[i][0] == '_';
    definitions[i].start = is_operator && !operators_count ? kOther : kAllocator;
    definitions[i].end = definitions[i].start;
    definitions[i].path = program;
  }
}

void* FindInLibc(const char* name) {
  return strcmp(name, "clock_gettime") == 0 ? reinterpret_cast<void*>(&clock_gettime) : nullptr;
}

bool BindOwnSymbol(const char*, const void*) { return false; }

void* FindIn(uintptr_t, const char* name) {
  if (strcmp(name, "mallocx") == 0) return reinterpret_cast<void*>(&__real_mallocx);
  if (strcmp(name, "mallinfo2") == 0) return reinterpret_cast<void*>(&mallinfo2);
  // Asked for last, when it is none of the others.
  if (strcmp(name, "__libc_start_main") == 0) return reinterpret_cast<void*>(&mallinfo2);
  return Find(kOwn, name);
}

}  // namespace heapgauge::agent
