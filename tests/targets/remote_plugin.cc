// The plugin of remote_service.

#include <cstdlib>

extern "C" void PluginKeep(int megabytes);

namespace {

volatile size_t g_kept = 0;

__attribute__((noinline)) void Note(void* block) { g_kept = g_kept + (block != nullptr ? 1 : 0); }

}  // namespace

void PluginKeep(int megabytes) {
  for (int i = 0; i < megabytes * 32; ++i) Note(std::malloc((32 << 10) + 16));
  g_kept = g_kept + 1;
}
