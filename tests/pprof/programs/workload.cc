// A program with known allocations for the allocators' own profilers: deep and shallow stacks, many
// sizes, templates, threads with names, a plugin that is loaded later. What stays and what is freed
// is the same in every run.
//
//   workload [--plugin FILE] [--sample-dump FILE] [--busy MILLISECONDS]
//
// --sample-dump writes what tcmalloc's sampler knows (only if linked with it, HG_WITH_TCMALLOC).

#include <dlfcn.h>
#include <pthread.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#ifdef HG_WITH_TCMALLOC
#include <gperftools/malloc_extension.h>
#endif

// jemalloc's, if it is there: it is told the names of threads, since it does not ask the kernel.
extern "C" int mallctl(const char* name, void* old, size_t* old_size, void* fresh, size_t size)
    __attribute__((weak));

#define NOINLINE __attribute__((noinline))

namespace work {

std::vector<void*> kept;

NOINLINE void* Keep(size_t size) {
  void* p = std::malloc(size);
  std::memset(p, 1, size);
  return p;
}

template <int kDepth>
struct Tower {
  NOINLINE static void* Build(size_t size, uint32_t seed) {
    // Two ways down, so that stacks part at every level.
    void* p = (seed >> kDepth & 1) != 0 ? Tower<kDepth - 1>::Build(size + 16, seed)
                                        : Tower<kDepth - 1>::Build(size, seed);
    __asm__ volatile("" : : "r"(p) : "memory");
    return p;
  }
};
template <>
struct Tower<0> {
  NOINLINE static void* Build(size_t size, uint32_t) { return Keep(size); }
};

class Cache {
 public:
  NOINLINE void Insert(int key) { entries_[key] = std::string(100 + key % 900, 'x'); }
  NOINLINE void Trim() {
    for (auto it = entries_.begin(); it != entries_.end();) {
      it = it->first % 3 == 0 ? entries_.erase(it) : std::next(it);
    }
  }

 private:
  std::map<int, std::string> entries_;
};

NOINLINE void Churn(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    auto block = std::make_unique<char[]>(64 + i % 4096);
    block[0] = static_cast<char>(i);
  }
}

NOINLINE void Worker(int index) {
  char name[16];
  std::snprintf(name, sizeof name, "worker-%d", index);
  pthread_setname_np(pthread_self(), name);
  if (mallctl != nullptr) {
    const char* told = name;
    mallctl("thread.prof.name", nullptr, nullptr, &told, sizeof told);
  }
  Churn(2000);
  auto* cache = new Cache;
  for (int i = 0; i < 2000; ++i) cache->Insert(i * (index + 1));
  cache->Trim();
}

// Something for a CPU profile.
NOINLINE unsigned Spin(long milliseconds) {
  unsigned sum = 0;
  const std::clock_t end = std::clock() + milliseconds * (CLOCKS_PER_SEC / 1000);
  while (std::clock() < end) {
    for (unsigned i = 0; i < 100000; ++i) sum = sum * 31 + i;
    __asm__ volatile("" : : "r"(sum));
  }
  return sum;
}

}  // namespace work

int main(int argc, char** argv) {
  const char* plugin = nullptr;
  const char* dump = nullptr;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--plugin") == 0) plugin = argv[i + 1];
    if (std::strcmp(argv[i], "--busy") == 0) work::Spin(std::atol(argv[i + 1]));
    if (std::strcmp(argv[i], "--sample-dump") == 0) dump = argv[i + 1];
  }
  for (uint32_t seed = 0; seed < 256; ++seed) {
    for (int times = 0; times < 8; ++times) {
      work::kept.push_back(work::Tower<8>::Build(1000 + seed * 40, seed));
    }
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(work::Worker, i);
  for (std::thread& thread : threads) thread.join();
  if (plugin != nullptr) {
    void* library = dlopen(plugin, RTLD_NOW);
    if (library == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    reinterpret_cast<void (*)(int)>(dlsym(library, "plugin_fill"))(300);
  }
#ifdef HG_WITH_TCMALLOC
  if (dump != nullptr) {
    std::string text;
    MallocExtension::instance()->GetHeapSample(&text);
    std::FILE* file = std::fopen(dump, "w");
    if (file == nullptr) return 1;
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
  }
#else
  (void)dump;
#endif
  return 0;
}
