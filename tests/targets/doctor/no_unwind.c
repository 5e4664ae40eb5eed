// Compiled without unwind tables, as most code of JIT compilers is: walks end here.
#include <stdlib.h>

void* volatile no_unwind_block;

__attribute__((noinline)) void HoldWithoutTables(long count, size_t size) {
  for (long i = 0; i < count; ++i) no_unwind_block = malloc(size);
}

int main(void) {
  HoldWithoutTables(100000, 1000);
  return 0;
}
