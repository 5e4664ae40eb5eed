// The C++ plugin of local_cxx_plugin: all forms of new that ordinary code meets, and an exception.

#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/targets/support.h"

extern "C" unsigned long PluginWork(unsigned seed);

namespace {

struct alignas(64) Wide {
  char bytes[192];
};

HG_NOINLINE unsigned long Fill(unsigned seed) {
  std::map<unsigned, std::string> map;
  for (unsigned i = 0; i < 2000; ++i) map[(i * 7919 + seed) % 1000] += std::string(i % 300, 'm');
  unsigned long sum = seed;
  for (const auto& [key, value] : map) sum = sum * 31 + key + value.size();
  std::vector<std::unique_ptr<Wide>> wide;
  for (int i = 0; i < 500; ++i) {
    wide.push_back(std::make_unique<Wide>());
    Require(reinterpret_cast<uintptr_t>(wide.back().get()) % 64 == 0, "not aligned");
  }
  auto* array = new (std::nothrow) int[30000];
  Require(array != nullptr, "out of memory");
  array[29999] = 5;
  sum += static_cast<unsigned long>(array[29999]) + wide.size();
  delete[] array;
  return sum;
}

}  // namespace

unsigned long PluginWork(unsigned seed) {
  const unsigned long sum = Fill(seed);
  try {
    throw std::runtime_error(std::string(1000, 'e'));
  } catch (const std::exception& e) {
    return sum + strlen(e.what());
  }
}
