// A program at a fixed address with a hole between its segments, as some large ones are: the
// function that allocates lies 32 MiB away from the rest. Prints the bytes it keeps.

#include "tests/targets/support.h"

__attribute__((section("far_text"), noinline)) static void* AllocateFarAway(size_t size) {
  void* block = malloc(size);
  Escape(block);
  return block;
}

int main(void) {
  size_t kept = 0;
  for (size_t i = 0; i < 4000; ++i) {
    const size_t size = 1000 + i % 7000;
    void* block = AllocateFarAway(size);
    if (i % 2 == 0) {
      free(block);
    } else {
      kept += size;
    }
  }
  printf("kept %zu\n", kept);
  return 0;
}
