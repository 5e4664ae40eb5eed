// The tightest loop there is: malloc and free of 64 bytes. `pair_loop PAIRS`
//
// Its instruction count shows what the hot path costs. No program is like it.

#include <stdlib.h>

int main(int argc, char** argv) {
  const long pairs = argc > 1 ? atol(argv[1]) : 1000000;
  for (long i = 0; i < pairs; ++i) {
    void* p = malloc(64);
    __asm__ volatile("" : : "r"(p) : "memory");
    free(p);
  }
  return 0;
}
