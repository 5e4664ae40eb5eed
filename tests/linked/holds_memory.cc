// Holds a known amount of memory by malloc (in a thread) and by operator new, after freeing half of
// it, and asks for some through each of the rarer functions.
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

constexpr size_t kBytes = 10'000;
constexpr int kBlocks = 4'000;

__attribute__((noinline)) void HoldByMalloc(std::vector<void*>* blocks) {
  for (int i = 0; i < kBlocks; ++i) {
    blocks->push_back(memset(malloc(kBytes), 1, kBytes));
  }
}

__attribute__((noinline)) void HoldByNew(std::vector<char*>* blocks) {
  for (int i = 0; i < kBlocks; ++i) {
    blocks->push_back(new char[kBytes]);
    memset(blocks->back(), 1, kBytes);
  }
}

struct alignas(128) Wide {
  char bytes[128];
};

int UseTheRest() {
  void* block = calloc(10, 1000);
  block = reallocarray(realloc(block, 20'000), 30, 1000);
  free(block);
  if (posix_memalign(&block, 4096, 5000) != 0) return 1;
  free(block);
  free(aligned_alloc(64, 640));
  free(memalign(32, 320));
  Wide* wide = new Wide[3];
  const bool aligned = reinterpret_cast<uintptr_t>(wide) % 128 == 0;
  delete[] wide;
  return aligned ? 0 : 1;
}

int main() {
  std::vector<void*> by_malloc;
  std::vector<char*> by_new;
  std::thread thread([&] { HoldByMalloc(&by_malloc); });
  HoldByNew(&by_new);
  thread.join();
  for (int i = 0; i < kBlocks / 2; ++i) {
    free(by_malloc.back());
    by_malloc.pop_back();
    delete[] by_new.back();
    by_new.pop_back();
  }
  if (UseTheRest() != 0) return 1;
  printf("%zu %zu\n", by_malloc.size(), by_new.size());
  return 0;
}
