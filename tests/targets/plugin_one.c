// A plugin for dlopen_plugin, in C.

#include "tests/targets/support.h"

void* PluginOneAllocate(uint64_t seed, size_t* size);

void* PluginOneAllocate(uint64_t seed, size_t* size) {
  *size = 200000 + (size_t)(seed * 131 % 100000);
  void* block = AllocateAt(seed, 3, *size);
  Escape(block);  // no tail call: this function is to be seen on the stack
  return block;
}
