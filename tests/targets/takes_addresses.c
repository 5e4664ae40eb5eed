/* Takes the addresses of functions of the C library at a fixed address of its own: its table of
 * jumps then is what these functions are for the whole process, and it is filled in last. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*Compare)(const char*, const char*);

struct Functions {
  Compare compare;
  int (*compare_some)(const char*, const char*, size_t);
  int (*compare_memory)(const void*, const void*, size_t);
  size_t (*length)(const char*);
  char* (*find)(const char*, int);
  void* (*copy)(void*, const void*, size_t);
  void* (*move)(void*, const void*, size_t);
  void* (*set)(void*, int, size_t);
};

/* In code, not in data: data would be relocated. */
__attribute__((noinline)) static void Fill(struct Functions* f) {
  f->compare = strcmp;
  f->compare_some = strncmp;
  f->compare_memory = memcmp;
  f->length = strlen;
  f->find = strchr;
  f->copy = memcpy;
  f->move = memmove;
  f->set = memset;
}

int main(void) {
  struct Functions f;
  Fill(&f);
  char** kept = malloc(2000 * sizeof *kept);
  for (int i = 0; i < 2000; ++i) {
    kept[i] = malloc(5000);
    f.set(kept[i], 'x', 4999);
    kept[i][4999] = '\0';
  }
  int equal = 0;
  for (int i = 1; i < 2000; ++i) {
    equal += f.compare(kept[0], kept[i]) == 0 && f.length(kept[i]) == 4999;
  }
  printf("%d equal, %s\n", equal, f.find("a:b", ':'));
  return 0;
}
