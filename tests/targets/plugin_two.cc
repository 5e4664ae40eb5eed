// A plugin for dlopen_plugin, in C++ and of another shape than the first.

#include <map>
#include <string>

#include "tests/targets/support.h"

extern "C" void* PluginTwoAllocate(uint64_t seed, size_t* size);

void* PluginTwoAllocate(uint64_t seed, size_t* size) {
  std::map<uint64_t, std::string> scratch;
  for (uint64_t i = 0; i < 50; ++i) scratch[seed + i] = std::string(200, 'x');
  *size = 300000 + scratch.size() * 100;
  void* p = malloc(*size);
  Escape(p);
  return p;
}
