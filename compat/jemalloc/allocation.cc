// jemalloc's allocation functions with flags, on whichever allocator the program has. Arenas and
// thread caches that flags name do not exist here and are passed over. Where jemalloc itself is in
// the process, it is called.
#include <malloc.h>

#include <cstdlib>
#include <cstring>

#include "compat/common/output.h"
#include "compat/gperftools/extension.h"

#define HG_EXPORT extern "C" __attribute__((visibility("default")))
#define HG_STEP_ASIDE(name, ...)                                                \
  do {                                                                          \
    static auto* const real = heapgauge::compat::NextAs<decltype(name)>(#name); \
    if (real != nullptr) return real(__VA_ARGS__);                              \
  } while (false)

namespace {

constexpr int kAlignmentBits = 63;
constexpr int kZero = 64;

size_t Alignment(int flags) { return size_t{1} << (flags & kAlignmentBits); }

// Natural for malloc, so that a plain call does.
bool IsPlain(int flags) { return Alignment(flags) <= alignof(max_align_t); }

__attribute__((always_inline)) inline void* Allocate(size_t size, int flags) {
  const bool zero = (flags & kZero) != 0;
  if (IsPlain(flags)) return zero ? calloc(1, size) : malloc(size);
  void* block = memalign(Alignment(flags), size);
  if (block != nullptr && zero) std::memset(block, 0, size);
  return block;
}

}  // namespace

HG_EXPORT void* mallocx(size_t size, int flags) noexcept {
  HG_STEP_ASIDE(mallocx, size, flags);
  return Allocate(size, flags);
}

HG_EXPORT void* rallocx(void* block, size_t size, int flags) noexcept {
  HG_STEP_ASIDE(rallocx, block, size, flags);
  const size_t old_size = malloc_usable_size(block);
  if (IsPlain(flags) && (flags & kZero) == 0) return realloc(block, size);
  void* moved = Allocate(size, flags);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, block, old_size < size ? old_size : size);
  free(block);
  return moved;
}

// In place: nothing is gained or lost, and the caller is told so.
HG_EXPORT size_t xallocx(void* block, size_t size, size_t extra, int flags) noexcept {
  HG_STEP_ASIDE(xallocx, block, size, extra, flags);
  return malloc_usable_size(block);
}

HG_EXPORT size_t sallocx(const void* block, int flags) noexcept {
  HG_STEP_ASIDE(sallocx, block, flags);
  return malloc_usable_size(const_cast<void*>(block));
}

HG_EXPORT void dallocx(void* block, int flags) noexcept {
  HG_STEP_ASIDE(dallocx, block, flags);
  free(block);
}

HG_EXPORT void sdallocx(void* block, size_t size, int flags) noexcept {
  HG_STEP_ASIDE(sdallocx, block, size, flags);
  free(block);
}

HG_EXPORT size_t nallocx(size_t size, int flags) noexcept {
  HG_STEP_ASIDE(nallocx, size, flags);
  return heapgauge::compat::extension::EstimatedSize(size);
}
