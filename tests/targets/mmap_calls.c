// Calls mmap, munmap and mremap in all the ways that cut, replace and move ranges, and prints what
// is left, so that recorded mappings can be checked. With an argument it waits for the end of its
// input before it ends; a forked child does the same once more.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kPage = 4096 };

// A macro, so that the calls belong to the functions below.
#define map(at, pages, flags)                                       \
  ((char*)mmap((at), (size_t)(pages)*kPage, PROT_READ | PROT_WRITE, \
               MAP_PRIVATE | MAP_ANONYMOUS | (flags), -1, 0))

__attribute__((noinline)) char* keep_ends(void) {  // 64 pages, the middle 32 given back
  char* range = map(NULL, 64, 0);
  munmap(range + 16 * kPage, 32 * kPage);
  return range;
}

__attribute__((noinline)) char* lay_over(char* range) {  // 8 pages in the midst of 24
  return map(range + 8 * kPage, 8, MAP_FIXED);
}

__attribute__((noinline)) char* under_it(void) { return map(NULL, 24, 0); }

__attribute__((noinline)) char* move(void) {  // 16 pages become 48, somewhere else
  char* range = map(NULL, 16, 0);
  char* behind = map(range + 16 * kPage, 1, MAP_FIXED_NOREPLACE);
  char* moved = mremap(range, 16 * kPage, 48 * kPage, MREMAP_MAYMOVE);
  if (behind != MAP_FAILED) munmap(behind, kPage);
  return moved;
}

__attribute__((noinline)) void all_gone(void) {
  for (int i = 0; i < 1000; ++i) munmap(map(NULL, 10, 0), 10 * kPage);
}

__attribute__((noinline)) void failures(void) {
  char* range = map(NULL, 4, 0);
  errno = 0;
  int a = munmap(range + 1, kPage) == -1 ? errno : 0;
  errno = 0;
  int b = mremap(range, 4 * kPage, (size_t)1 << 60, MREMAP_MAYMOVE) == MAP_FAILED ? errno : 0;
  errno = 0;
  int c = mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? errno : 0;
  errno = 0;
  // A length with which the end comes to lie before the start.
  int d = munmap(range + 2 * kPage, (size_t)-kPage) == -1 ? errno : 0;
  errno = 0;
  int e = mremap(range + 2 * kPage, (size_t)-kPage, kPage, 0) == MAP_FAILED ? errno : 0;
  printf("errors %d %d %d %d %d\n", a, b, c, d, e);
}

int main(int argc, char** argv) {
  (void)argv;
  char* ends = keep_ends();
  char* over = lay_over(under_it());
  char* moved = move();
  all_gone();
  failures();
  ends[0] = over[0] = moved[47 * kPage] = 1;
  printf("done %d\n", ends != over);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    char* again = keep_ends();
    again[0] = 1;
    free(malloc(3 << 20));
    printf("child %d\n", again != NULL);
    fflush(stdout);
  }
  if (argc > 1) {
    char c;
    while (read(0, &c, 1) > 0) {
    }
  }
  if (child > 0) waitpid(child, NULL, 0);
  return 0;
}
