// Loads and unloads two plugins 1,000 times; what they allocate stays behind after dlclose.
//
//   dlopen_plugin [ROUNDS]      default 1000, alternating between the two
//
// Blocks come from the plugins' functions PluginOneAllocate and PluginTwoAllocate and are alive at
// the end: 64 of each plugin, the rest is freed after the plugin is gone. Most of the time the
// second plugin takes over the addresses that the first had. Prints counts, and the live bytes by
// plugin.

#include <dlfcn.h>

#include "tests/targets/support.h"

typedef void* (*AllocateFunction)(uint64_t seed, size_t* size);

enum { kKept = 64 };

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 1000;
  static const char* const kLibrary[2] = {"libplugin_one.so", "libplugin_two.so"};
  static const char* const kFunction[2] = {"PluginOneAllocate", "PluginTwoAllocate"};
  static void* kept[2][kKept];
  static size_t size[2][kKept];
  int loaded[2] = {0, 0};
  for (int i = 0; i < rounds; ++i) {
    const int which = i % 2;
    void* plugin = dlopen(kLibrary[which], RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    AllocateFunction allocate;
    *(void**)&allocate = dlsym(plugin, kFunction[which]);
    Require(allocate != NULL, "the plugin lacks its function");
    const int slot = loaded[which]++ % kKept;
    if (kept[which][slot] != NULL) {
      Require(Marked(kept[which][slot], size[which][slot], 21), "a block was damaged");
      free(kept[which][slot]);
    }
    kept[which][slot] = allocate((uint64_t)i, &size[which][slot]);
    Mark(kept[which][slot], size[which][slot], 21);
    Require(dlclose(plugin) == 0, "dlclose");
  }
  for (int which = 0; which < 2; ++which) {
    unsigned long bytes = 0;
    for (int i = 0; i < kKept; ++i) bytes += size[which][i];
    printf("%s %d times, %lu bytes live\n", kFunction[which], loaded[which], bytes);
  }
  return 0;
}
