// gperftools/tcmalloc.h: tcmalloc's own names of the allocation functions, on whichever allocator
// the program has. Each is one call, so that stacks have no more frames than with the real one.
#include <dlfcn.h>
#include <malloc.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "compat/common/output.h"
#include "compat/gperftools/extension.h"

#define HG_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using New = void*(size_t);

// The program's, which throws and knows its handler. This library has one of its own inside, for
// itself.
New* OperatorNew() {
  static auto* const found = reinterpret_cast<New*>(dlsym(RTLD_DEFAULT, "_Znwm"));
  return found != nullptr ? found : &malloc;
}

}  // namespace

HG_EXPORT const char* tc_version(int* major, int* minor, const char** patch) {
  using Function = const char*(int*, int*, const char**);
  if (auto* real = heapgauge::compat::NextAs<Function>("tc_version")) {
    return real(major, minor, patch);
  }
  if (major != nullptr) *major = 2;
  if (minor != nullptr) *minor = 10;
  if (patch != nullptr) *patch = "";
  return "gperftools 2.10 (interface, by heapgauge)";
}

HG_EXPORT void* tc_malloc(size_t size) { return malloc(size); }
HG_EXPORT void* tc_malloc_skip_new_handler(size_t size) { return malloc(size); }
HG_EXPORT void tc_free(void* p) { free(p); }
HG_EXPORT void tc_free_sized(void* p, size_t) { free(p); }
HG_EXPORT void* tc_realloc(void* p, size_t size) { return realloc(p, size); }
HG_EXPORT void* tc_calloc(size_t count, size_t size) { return calloc(count, size); }
HG_EXPORT void tc_cfree(void* p) { free(p); }
HG_EXPORT void* tc_memalign(size_t alignment, size_t size) { return memalign(alignment, size); }
HG_EXPORT int tc_posix_memalign(void** p, size_t alignment, size_t size) {
  return posix_memalign(p, alignment, size);
}
HG_EXPORT void* tc_valloc(size_t size) { return valloc(size); }
HG_EXPORT void* tc_pvalloc(size_t size) { return pvalloc(size); }
HG_EXPORT void tc_malloc_stats() {
  heapgauge::compat::Say(heapgauge::compat::extension::Statistics());
}
HG_EXPORT int tc_mallopt(int, int) { return 1; }
HG_EXPORT struct mallinfo tc_mallinfo() {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  return mallinfo();
#pragma GCC diagnostic pop
}
HG_EXPORT size_t tc_malloc_size(void* p) { return malloc_usable_size(p); }
HG_EXPORT int tc_set_new_mode(int) { return 0; }

HG_EXPORT void* tc_new_nothrow(size_t size, const std::nothrow_t&) { return malloc(size); }
HG_EXPORT void* tc_newarray_nothrow(size_t size, const std::nothrow_t&) { return malloc(size); }
HG_EXPORT void* tc_new(size_t size) { return OperatorNew()(size); }
HG_EXPORT void* tc_newarray(size_t size) { return OperatorNew()(size); }
HG_EXPORT void tc_delete(void* p) { free(p); }
HG_EXPORT void tc_delete_sized(void* p, size_t) { free(p); }
HG_EXPORT void tc_delete_nothrow(void* p, const std::nothrow_t&) { free(p); }
HG_EXPORT void tc_deletearray(void* p) { free(p); }
HG_EXPORT void tc_deletearray_sized(void* p, size_t) { free(p); }
HG_EXPORT void tc_deletearray_nothrow(void* p, const std::nothrow_t&) { free(p); }
HG_EXPORT void* tc_new_aligned(size_t size, std::align_val_t alignment) {
  return memalign(static_cast<size_t>(alignment), size);
}
HG_EXPORT void* tc_new_aligned_nothrow(size_t size, std::align_val_t alignment,
                                       const std::nothrow_t&) {
  return memalign(static_cast<size_t>(alignment), size);
}
HG_EXPORT void tc_delete_aligned(void* p, std::align_val_t) { free(p); }
HG_EXPORT void tc_delete_sized_aligned(void* p, size_t, std::align_val_t) { free(p); }
HG_EXPORT void tc_delete_aligned_nothrow(void* p, std::align_val_t, const std::nothrow_t&) {
  free(p);
}
HG_EXPORT void* tc_newarray_aligned(size_t size, std::align_val_t alignment) {
  return memalign(static_cast<size_t>(alignment), size);
}
HG_EXPORT void* tc_newarray_aligned_nothrow(size_t size, std::align_val_t alignment,
                                            const std::nothrow_t&) {
  return memalign(static_cast<size_t>(alignment), size);
}
HG_EXPORT void tc_deletearray_aligned(void* p, std::align_val_t) { free(p); }
HG_EXPORT void tc_deletearray_sized_aligned(void* p, size_t, std::align_val_t) { free(p); }
HG_EXPORT void tc_deletearray_aligned_nothrow(void* p, std::align_val_t, const std::nothrow_t&) {
  free(p);
}
