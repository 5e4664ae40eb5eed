// A C++ program, position-independent, that holds memory itself and through a plugin, says so, and
// waits for its end. Uses nothing of heapgauge.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

namespace host {

std::vector<std::unique_ptr<char[]>> held;

__attribute__((noinline)) void FillHost(int count, size_t bytes) {
  for (int i = 0; i < count; ++i) {
    held.emplace_back(new char[bytes]);
    std::memset(held.back().get(), 1, bytes);
  }
}

}  // namespace host

int main(int, char** arguments) {
  host::FillHost(600, 100'000);
  void* plugin = dlopen(arguments[1], RTLD_NOW);
  auto* fill =
      reinterpret_cast<void (*)()>(plugin == nullptr ? nullptr : dlsym(plugin, "FillThePlugin"));
  if (fill == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  fill();
  std::puts("ready");
  std::fflush(stdout);
  char byte;
  return read(0, &byte, 1) < 0 ? 1 : 0;
}
