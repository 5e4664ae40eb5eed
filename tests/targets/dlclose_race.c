// Two threads allocate while the main thread loads and unloads two plugins, 3,000 times: what
// another thread unloads at this moment must not be read. Prints "fine".

#include <dlfcn.h>
#include <pthread.h>

#include "tests/targets/support.h"

static volatile int stop;

static void* AllocateUntilStopped(void* unused) {
  (void)unused;
  while (!stop) {
    void* block = malloc(100);
    Escape(block);
    free(block);
  }
  return NULL;
}

int main(void) {
  static const char* const kLibrary[2] = {"libplugin_one.so", "libplugin_two.so"};
  static const char* const kFunction[2] = {"PluginOneAllocate", "PluginTwoAllocate"};
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, AllocateUntilStopped, NULL);
  for (int i = 0; i < 3000; ++i) {
    void* plugin = dlopen(kLibrary[i % 2], RTLD_NOW | RTLD_LOCAL);
    Require(plugin != NULL, "dlopen");
    void* (*allocate)(uint64_t, size_t*);
    *(void**)&allocate = dlsym(plugin, kFunction[i % 2]);
    size_t size;
    free(allocate((uint64_t)i, &size));
    dlclose(plugin);
  }
  stop = 1;
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  puts("fine");
  return 0;
}
