// A plugin loaded with RTLD_DEEPBIND finds malloc and free in its own scope first, past any
// preloaded library: blocks cross the border in both directions, seen by one side's hooks only.
//
// Over glibc alone: with another allocator preloaded, the two sides would not even share a heap.
// Prints counts and sums.

#include <dlfcn.h>

#include "tests/targets/support.h"

int main(void) {
  void* plugin = dlopen("libdeepbind_plugin.so", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (plugin == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  void* (*allocate)(size_t);
  void (*release)(void*);
  uint64_t (*exercise)(uint64_t, size_t);
  *(void**)&allocate = dlsym(plugin, "DeepAllocate");
  *(void**)&release = dlsym(plugin, "DeepRelease");
  *(void**)&exercise = dlsym(plugin, "DeepExercise");
  Require(allocate != NULL && release != NULL && exercise != NULL, "the plugin lacks a function");
  uint64_t random = 3;
  int ours_freed_there = 0;
  int theirs_freed_here = 0;
  for (int i = 0; i < 20000; ++i) {
    const size_t size = RandomSize(&random, 300000);
    void* ours = AllocateAt((uint64_t)i, 3, size);
    void* theirs = allocate(size);
    Mark(ours, size, 1);
    Mark(theirs, size, 2);
    Require(Marked(ours, size, 1) && Marked(theirs, size, 2), "blocks overlap");
    if (i % 2 == 0) {
      release(ours);
      free(theirs);
      ++ours_freed_there;
      ++theirs_freed_here;
    } else {
      free(ours);
      release(theirs);
    }
  }
  printf("crossed: %d out, %d in\n", ours_freed_there, theirs_freed_here);
  printf("plugin %lx, host %lx\n", (unsigned long)exercise(1, 20000),
         (unsigned long)Exercise(2, 20000));
  return 0;
}
