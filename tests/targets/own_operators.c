// A C program with two C++ plugins that each bring their own operator new and delete (RTLD_LOCAL):
// each must get its own, also after the other was unloaded. Prints what each found, and "fine".

#include <dlfcn.h>

#include "tests/targets/support.h"

static void Call(void* plugin, const char* name) {
  void (*function)(void);
  *(void**)&function = dlsym(plugin, name);
  Require(function != NULL, name);
  function();
}

int main(void) {
  void* a = dlopen("libown_operators_plugin_a.so", RTLD_NOW | RTLD_LOCAL);
  void* b = dlopen("libown_operators_plugin_b.so", RTLD_NOW | RTLD_LOCAL);
  Require(a != NULL && b != NULL, "dlopen");
  for (int i = 0; i < 100; ++i) {
    Call(a, "Make");
    Call(b, "Make");
    Call(a, "Drop");
    Call(b, "Drop");
  }
  Call(b, "Make");
  dlclose(a);
  Call(b, "Drop");
  puts("fine");
  return 0;
}
