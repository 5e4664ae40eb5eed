// A plugin that is loaded at run time and holds memory; see plugin_host.cc.
#include <cstring>

namespace plugin {

char* blocks[500];

__attribute__((noinline)) void FillPlugin(int count, int bytes) {
  for (int i = 0; i < count; ++i) {
    blocks[i] = new char[static_cast<unsigned>(bytes)];
    std::memset(blocks[i], 1, static_cast<unsigned>(bytes));
  }
}

}  // namespace plugin

extern "C" void FillThePlugin() { plugin::FillPlugin(400, 100'000); }
