/* A small program for massif: a heap that grows, swings and is freed, through a few functions, one
   of which calls itself. */
#include <stdlib.h>

__attribute__((noinline)) static void* grab(size_t n) { return malloc(n); }
__attribute__((noinline)) static void* small(int i) { return grab(16 + (size_t)i % 64); }
__attribute__((noinline)) static void* large(int i) { return grab(1000 + 10 * (size_t)i); }
__attribute__((noinline)) static void deep(int levels, void** out) {
  if (levels == 0) {
    *out = malloc(5000);
    return;
  }
  deep(levels - 1, out);
  __asm__ volatile("" ::: "memory"); /* no tail call */
}

int main(void) {
  void* keep[400];
  void* more[10];
  for (int i = 0; i < 200; ++i) {
    keep[2 * i] = small(i);
    keep[2 * i + 1] = large(i);
  }
  for (int i = 0; i < 400; i += 3) {
    free(keep[i]);
    keep[i] = NULL;
  }
  for (int i = 0; i < 10; ++i) deep(i * 4, &more[i]);
  for (int i = 0; i < 400; ++i) free(keep[i]);
  for (int i = 0; i < 5; ++i) free(more[i]);
  return 0;
}
