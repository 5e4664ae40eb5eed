// A program whose heap is known by design: leaks, temporary blocks, a peak in the middle, realloc,
// inlined calls, several sizes of one stack. The tests compare what different tools say about it.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#if __has_include(<valgrind/dhat.h>)
#include <valgrind/dhat.h>
#endif
#ifndef DHAT_AD_HOC_EVENT
#define DHAT_AD_HOC_EVENT(weight) (void)(weight)
#endif

void* volatile kept[1000];

[[gnu::noinline]] void* Leak(size_t size) { return std::malloc(size); }

[[gnu::always_inline]] inline void* LeakFromHere(size_t size) { return Leak(size); }

[[gnu::noinline]] void Temporary(size_t size) {
  void* volatile block = std::malloc(size);
  std::free(block);
}

[[gnu::noinline]] void Peak() {
  for (int i = 0; i < 100; ++i) kept[i] = std::malloc(1000);
  for (int i = 0; i < 100; ++i) std::free(kept[i]);
}

[[gnu::noinline]] void Resize() {
  void* block = std::malloc(10);
  block = std::realloc(block, 30000);
  block = std::realloc(block, 20);
  std::free(block);
}

[[gnu::noinline]] size_t Grow(int count) {
  std::vector<int> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(i);
  return numbers.size();
}

[[gnu::noinline]] void Deep(int depth) {
  if (depth > 0) {
    Deep(depth - 1);
    return;
  }
  kept[999] = std::calloc(7, 11);
  std::string text(5000, 'x');
  text += text;
  DHAT_AD_HOC_EVENT(17);
}

int main() {
  for (int i = 0; i < 10; ++i) kept[100 + i] = LeakFromHere(100 + i);
  for (int i = 0; i < 50; ++i) Temporary(64);
  Peak();
  Resize();
  const size_t size = Grow(1000);
  for (int i = 0; i < 40; ++i) {
    DHAT_AD_HOC_EVENT(3);
    Deep(i);
  }
  std::printf("%zu\n", size);
  return 0;
}
