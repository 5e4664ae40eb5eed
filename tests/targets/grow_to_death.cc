// Grows until it is killed, or until there is no more memory to be had and it aborts.
//
//   grow_to_death KIND [THREADS] [--as MIB]
//
// KIND is `chunks` (100 MB at a time), `blocks` (8 MiB), `small` (40 to 4000 bytes), `new` (20 MiB
// by operator new) or `vector` (one block that grows by realloc, by a half each time). GrowCulprit
// keeps all it gets; ChurnInnocent, in every thread, takes and frees many times as much and never
// holds more than 4 MiB. With --as the limit on address space is set by the program itself, to MIB
// above what it has. Without memory it calls abort(), as servers do.

#include <sys/resource.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/targets/support.h"

namespace {

std::atomic<bool> out_of_memory{false};

[[noreturn]] void OutOfMemory() {
  out_of_memory.store(true);
  abort();
}

struct Link {
  Link* next;
};

HG_NOINLINE void* GrowCulprit(size_t size) {
  void* block = malloc(size);
  if (block == nullptr) OutOfMemory();
  memset(block, 1, size);
  Escape(block);
  return block;
}

HG_NOINLINE void* GrowCulpritByNew(size_t size) {
  char* block = new char[size];  // ends the program by an exception that nobody catches
  memset(block, 1, size);
  Escape(block);
  return block;
}

HG_NOINLINE void ChurnInnocent(uint64_t* random) {
  enum { kHeld = 64 };
  static thread_local void* held[kHeld];
  for (int i = 0; i < 200; ++i) {
    const size_t slot = NextRandom(random) % kHeld;
    free(held[slot]);
    const size_t size = 1 + NextRandom(random) % 32768;
    held[slot] = malloc(size);
    if (held[slot] == nullptr) OutOfMemory();
    memset(held[slot], 2, size);
  }
}

HG_NOINLINE void GrowCulpritByRealloc(uint64_t* random) {
  char* block = nullptr;
  size_t old = 0;
  for (size_t size = 1 << 20;; size += size / 2) {
    block = static_cast<char*>(realloc(block, size));
    if (block == nullptr) OutOfMemory();
    memset(block + old, 1, size - old);
    Escape(block);
    old = size;
    ChurnInnocent(random);
  }
}

void Grow(const char* kind, uint64_t seed) {
  uint64_t random = seed * 77 + 1;
  static thread_local Link* all;
  if (strcmp(kind, "vector") == 0) GrowCulpritByRealloc(&random);
  while (true) {
    ChurnInnocent(&random);
    void* block;
    if (strcmp(kind, "chunks") == 0) {
      block = GrowCulprit(100'000'000);
    } else if (strcmp(kind, "blocks") == 0) {
      block = GrowCulprit(8 << 20);
    } else if (strcmp(kind, "new") == 0) {
      block = GrowCulpritByNew(20 << 20);
    } else {
      for (int i = 0; i < 2000; ++i) {
        auto* link = static_cast<Link*>(GrowCulprit(40 + NextRandom(&random) % 3960));
        link->next = all;
        all = link;
      }
      continue;
    }
    static_cast<Link*>(block)->next = all;
    all = static_cast<Link*>(block);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  int threads = 1;
  for (int i = 2; i < argc; ++i) {
    if (strcmp(argv[i], "--as") == 0 && i + 1 < argc) {
      const rlim_t bytes =
          static_cast<rlim_t>(StatusKiB("VmSize:") + atol(argv[++i]) * 1024) * 1024;
      const rlimit limit = {bytes, bytes};
      Require(setrlimit(RLIMIT_AS, &limit) == 0, "setrlimit");
    } else {
      threads = atoi(argv[i]);
    }
  }
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(Grow, argv[1], static_cast<uint64_t>(i));
  Grow(argv[1], 0);
}
