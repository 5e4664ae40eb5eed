// A C program, not linked to the C++ library, that loads a C++ plugin with RTLD_LOCAL: operator new
// exists in the plugin's scope alone.
//
// Prints what the plugin computed, three times over, with dlclose between.

#include <dlfcn.h>

#include "tests/targets/support.h"

int main(void) {
  for (int i = 0; i < 3; ++i) {
    void* plugin = dlopen("libcxx_plugin.so", RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    unsigned long (*work)(unsigned);
    *(void**)&work = dlsym(plugin, "PluginWork");
    Require(work != NULL, "the plugin lacks its function");
    printf("plugin: %lx\n", work((unsigned)i));
    printf("host: %lx\n", (unsigned long)Exercise((uint64_t)i, 5000));
    dlclose(plugin);
  }
  return 0;
}
