/* Names variables of the dynamic linker, as V8 does with the first of them: the program then has
 * copies, to which everything is bound and which are filled in when the program is relocated, last
 * of all. */
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

extern void* __libc_stack_end;

int main(void) {
  int objects = 0;
  for (const struct link_map* map = _r_debug.r_map; map != NULL; map = map->l_next) ++objects;
  for (int i = 0; i < 1000; ++i) {
    void* block = malloc(100 + i);
    *(volatile char*)block = 1;
    free(block);
  }
  *(volatile char*)malloc(5000000) = 1;
  printf("%s\n", __libc_stack_end != NULL && objects > 1 ? "both are there" : "one is missing");
  return 0;
}
