// A library to preload that hooks mmap as well, passes calls on, and says at the end how many it
// saw on standard error if MMAP_COUNTER is set. For trying the agent in front of it and behind it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

static unsigned long calls;

__attribute__((visibility("default"))) void* mmap(void* address, size_t length, int protection,
                                                  int flags, int fd, off_t offset);

void* mmap(void* address, size_t length, int protection, int flags, int fd, off_t offset) {
  static void* (*next)(void*, size_t, int, int, int, off_t);
  if (next == NULL) next = dlsym(RTLD_NEXT, "mmap");
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
  return next(address, length, protection, flags, fd, offset);
}

__attribute__((destructor)) static void tell(void) {
  if (getenv("MMAP_COUNTER") != NULL) fprintf(stderr, "mmap_counter %lu\n", calls);
}
