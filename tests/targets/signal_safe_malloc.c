// An allocator that may be entered from a signal handler that interrupted it, and left by longjmp.
//
// Preloaded below the agent (LD_PRELOAD="libheapgauge.so libsignal_safe_malloc.so") it makes legal
// what other allocators forbid: a handler that allocates in the middle of malloc, and so in the
// middle of the agent. It hands out memory in one direction with one atomic addition. A block goes
// back to a list of its power-of-two size with compare-and-swap on an index and a counter; a block
// that a jump abandons half-way is lost, no more.

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define HG_EXPORT __attribute__((visibility("default")))

enum { kUnit = 16, kClasses = 40 };
static const size_t kArena = (size_t)64 << 30;  // of addresses; pages come when touched

// Before each block: its class and its place in units, for the lists.
struct Head {
  uint32_t class_index;
  uint32_t next;  // in units from the start; 0 ends the list
  uint64_t size;
};
_Static_assert(sizeof(struct Head) == kUnit, "one unit");

static _Atomic(char*) arena;
static _Atomic uint64_t used_units = 1;
static _Atomic uint64_t lists[kClasses];  // counter in the upper half, first block in the lower

static char* Arena(void) {
  char* base = atomic_load(&arena);
  if (base != NULL) return base;
  char* fresh = mmap(NULL, kArena, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (fresh == MAP_FAILED) return NULL;
  if (atomic_compare_exchange_strong(&arena, &base, fresh)) return fresh;
  munmap(fresh, kArena);
  return base;
}

static uint32_t ClassOf(size_t size) {
  uint32_t c = 5;
  while (((size_t)1 << c) < size) ++c;
  return c;
}

static void* Take(size_t size) {
  char* base = Arena();
  if (base == NULL || size > kArena / 4) {
    errno = ENOMEM;
    return NULL;
  }
  const uint32_t c = ClassOf(size);
  uint64_t first = atomic_load(&lists[c]);
  while ((uint32_t)first != 0) {
    struct Head* head = (struct Head*)(base + (uint64_t)(uint32_t)first * kUnit);
    const uint64_t next = ((first >> 32) + 1) << 32 | head->next;
    if (atomic_compare_exchange_weak(&lists[c], &first, next)) {
      head->size = size;
      return head + 1;
    }
  }
  const uint64_t units = 1 + ((uint64_t)1 << c) / kUnit;
  const uint64_t at = atomic_fetch_add(&used_units, units);
  if ((at + units) * kUnit > kArena) {
    errno = ENOMEM;
    return NULL;
  }
  struct Head* head = (struct Head*)(base + at * kUnit);
  head->class_index = c;
  head->size = size;
  return head + 1;
}

HG_EXPORT void* malloc(size_t size) { return Take(size); }

HG_EXPORT void free(void* p) {
  if (p == NULL) return;
  struct Head* head = (struct Head*)p - 1;
  if (head->class_index >= kClasses) return;  // an aligned block in the middle of a larger one
  const uint32_t self = (uint32_t)((uint64_t)((char*)head - Arena()) / kUnit);
  uint64_t first = atomic_load(&lists[head->class_index]);
  uint64_t next;
  do {
    head->next = (uint32_t)first;
    next = ((first >> 32) + 1) << 32 | self;
  } while (!atomic_compare_exchange_weak(&lists[head->class_index], &first, next));
}

HG_EXPORT void* calloc(size_t count, size_t size) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return NULL;
  }
  void* p = Take(bytes);
  return p == NULL ? NULL : memset(p, 0, bytes);
}

HG_EXPORT void* realloc(void* p, size_t size) {
  if (p == NULL) return Take(size);
  const size_t had = ((struct Head*)p - 1)->size;
  void* q = Take(size);
  if (q == NULL) return NULL;
  memcpy(q, p, had < size ? had : size);
  free(p);
  return q;
}

HG_EXPORT void* memalign(size_t alignment, size_t size) {
  if (alignment <= kUnit) return Take(size);
  char* p = Take(size + alignment + kUnit);
  if (p == NULL) return NULL;
  char* aligned = (char*)(((uintptr_t)p + kUnit + alignment - 1) & ~(alignment - 1));
  struct Head* head = (struct Head*)aligned - 1;
  head->class_index = kClasses;  // never freed: the tests take few of these
  head->size = size;
  return aligned;
}

HG_EXPORT void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

HG_EXPORT int posix_memalign(void** out, size_t alignment, size_t size) {
  void* p = memalign(alignment, size);
  if (p == NULL) return ENOMEM;
  *out = p;
  return 0;
}

HG_EXPORT size_t malloc_usable_size(void* p) {
  return p == NULL ? 0 : (size_t)((struct Head*)p - 1)->size;
}
