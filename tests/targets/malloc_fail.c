// The edges of the interface: what fails must fail in the same way, errno included.
//
// Prints one line for each case. Over one allocator the output is the same with and without us.

#include <errno.h>
#include <malloc.h>
#include <stdint.h>

#include "tests/targets/support.h"

static volatile size_t huge = (size_t)PTRDIFF_MAX + 1;  // volatile: no warning, no folding
static volatile size_t zero = 0;

static const char* ErrorName(int error) {
  return error == 0 ? "0" : error == ENOMEM ? "ENOMEM" : error == EINVAL ? "EINVAL" : "other";
}

static void Report(const char* what, const void* p) {
  const int error = errno;
  printf("%s: %s, errno %s\n", what, p == NULL ? "NULL" : "a block", ErrorName(error));
  errno = 0;
}

int main(void) {
  Exercise(1, 20000);
  errno = 0;
  Report("malloc of more than PTRDIFF_MAX", malloc(huge));
  Report("malloc of SIZE_MAX", malloc(huge * 2 - 1));
  Report("calloc that overflows", calloc(huge, 4));
  Report("calloc of more than PTRDIFF_MAX", calloc(huge, 1));
  Report("realloc(NULL, huge)", realloc(NULL, huge));
  Report("reallocarray that overflows", reallocarray(NULL, huge, 4));
  Report("memalign of huge", memalign(64, huge));
  Report("aligned_alloc of huge", aligned_alloc(64, huge));
  void* p = NULL;
  printf("posix_memalign, alignment 3: %s\n", ErrorName(posix_memalign(&p, 3, 100)));
  printf("posix_memalign, alignment 4: %s\n", ErrorName(posix_memalign(&p, 4, 100)));
  printf("posix_memalign, alignment 24: %s\n", ErrorName(posix_memalign(&p, 24, 100)));
  printf("posix_memalign of huge: %s\n", ErrorName(posix_memalign(&p, 64, huge)));
  printf("its pointer was left alone: %s\n", YesNo(p == NULL));
  printf("posix_memalign, alignment 4096: %s, aligned: ", ErrorName(posix_memalign(&p, 4096, 100)));
  printf("%s\n", YesNo(((uintptr_t)p & 4095) == 0));
  free(p);
  errno = 0;

  // A realloc that fails leaves its block alone.
  p = malloc(1000);
  Mark(p, 1000, 7);
  void* q = realloc(p, huge);
  Report("realloc(p, huge)", q);
  printf("the block is still there: %s\n", YesNo(Marked(p, 1000, 7)));
  free(p);

  p = realloc(NULL, 100);
  Report("realloc(NULL, 100)", p);
  q = realloc(p, zero);
  Report("realloc(p, 0)", q);
  free(q);
  p = malloc(zero);
  Report("malloc(0)", p);
  free(p);
  p = calloc(zero, 10);
  Report("calloc(0, 10)", p);
  free(p);
  p = valloc(100);
  printf("valloc aligned: %s\n", YesNo(p != NULL && ((uintptr_t)p & 4095) == 0));
  free(p);

  // free keeps errno, whatever it does inside; so does it for large blocks and for NULL.
  int kept = 1;
  for (unsigned i = 0; i < 20000; ++i) {
    p = AllocateAt(i, 5, 1 + i * 37 % 400000);
    errno = 4711;
    free(p);
    kept &= errno == 4711;
  }
  errno = 4711;
  free(NULL);
  kept &= errno == 4711;
  printf("free kept errno: %s\n", YesNo(kept));

  // A malloc that succeeds leaves errno alone in practice; programs have come to rely on it.
  errno = 0;
  for (unsigned i = 0; i < 20000; ++i) free(AllocateAt(i, 5, 1 + i * 37 % 100000));
  printf("errno after 20000 good calls: %s\n", ErrorName(errno));
  printf("sum %lx\n", (unsigned long)Exercise(2, 20000));
  return 0;
}
