// A position-independent service with a plugin that it loads: what remote clients must be able to
// name. Each line of input is a letter and a number of megabytes, answered by "ok":
//
//   k  KeepSessions holds on to them         p  the plugin's PluginKeep does
//   i  an inlined function inside of Dispatch does   c  Churn takes them and gives them back

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace remote {

volatile size_t g_kept = 0;
constexpr size_t kBlock = 32 << 10;

__attribute__((noinline)) void Note(void* block) { g_kept = g_kept + (block != nullptr ? 1 : 0); }

__attribute__((noinline)) void KeepSessions(int megabytes) {
  for (int i = 0; i < megabytes * 32; ++i) Note(std::malloc(kBlock));
}

__attribute__((noinline)) void Churn(int megabytes) {
  for (int i = 0; i < megabytes * 32; ++i) {
    void* block = std::malloc(kBlock);
    Note(block);
    std::free(block);
  }
}

inline __attribute__((always_inline)) void KeepInlined(int megabytes) {
  for (int i = 0; i < megabytes * 32; ++i) Note(std::malloc(kBlock + 8));
}

using Keep = void (*)(int megabytes);

__attribute__((noinline)) void Dispatch(char what, int megabytes, Keep plugin) {
  if (what == 'k') KeepSessions(megabytes);
  if (what == 'c') Churn(megabytes);
  if (what == 'i') KeepInlined(megabytes);
  if (what == 'p') plugin(megabytes);
  g_kept = g_kept + 1;
}

}  // namespace remote

int main() {
  void* library = dlopen("libremote_plugin.so", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const auto plugin = reinterpret_cast<remote::Keep>(dlsym(library, "PluginKeep"));
  if (plugin == nullptr) return 1;
  char what = 0;
  int megabytes = 0;
  std::puts("ready");
  std::fflush(stdout);
  while (std::scanf(" %c %d", &what, &megabytes) == 2) {
    remote::Dispatch(what, megabytes, plugin);
    std::puts("ok");
    std::fflush(stdout);
  }
  return 0;
}
