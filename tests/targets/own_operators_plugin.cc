// A plugin with operator new and delete of its own, for own_operators: blocks carry a mark that
// differs between the two builds of this file, and a foreign one ends the program.

#include <cstdio>
#include <cstdlib>
#include <new>

namespace {
constexpr unsigned long kMark = HG_PLUGIN_MARK;
int* kept;
}  // namespace

void* operator new(std::size_t size) {
  auto* block = static_cast<unsigned long*>(std::malloc(size + 16));
  block[0] = kMark;
  return block + 2;
}
void operator delete(void* block) noexcept {
  auto* start = static_cast<unsigned long*>(block) - 2;
  if (start[0] != kMark) {
    std::puts("a foreign block");
    std::abort();
  }
  std::free(start);
}
void operator delete(void* block, std::size_t) noexcept { operator delete(block); }

extern "C" void Make() {
  kept = new int(7);
  __asm__ volatile("" : : "r"(kept) : "memory");
  std::printf("its own %d\n", reinterpret_cast<unsigned long*>(kept)[-2] == kMark);
}
extern "C" void Drop() { delete kept; }
