// Loaded by workload.cc while it runs: memory that a library allocates.

#include <cstring>
#include <vector>

namespace {

std::vector<char*> blocks;

__attribute__((noinline)) char* FillOne(int index) {
  const size_t size = 2000 + static_cast<size_t>(index) * 10;
  char* block = new char[size];
  std::memset(block, 1, size);
  return block;
}

}  // namespace

extern "C" void plugin_fill(int count) {
  for (int i = 0; i < count; ++i) blocks.push_back(FillOne(i));
}
