// Uses jemalloc by the names that Rust's jemalloc crate gives it.
#include <stdio.h>

void* _rjem_malloc(unsigned long size);

int main(void) {
  void* volatile block = NULL;
  for (int i = 0; i < 1000; ++i) block = _rjem_malloc(1000);
  printf("%d\n", block != NULL);
  return 0;
}
