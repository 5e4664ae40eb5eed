// A forked child whose blocks are held by one that its parent made.
//
//   held_by_parent
//
// The child keeps one block in a block of its parent's, and forgets another. Then it says that it
// is there, with its pid, and goes on until its input ends.

#include <sys/wait.h>

#include "tests/targets/support.h"

struct Holder {
  void* block;
};
static struct Holder** volatile holder;

static HG_NOINLINE void Forget(void) {
  void* volatile lost = malloc(3000);
  Require(lost != NULL, "out of memory");
  lost = NULL;
}

int main(void) {
  holder = malloc(sizeof *holder);
  *holder = malloc(sizeof **holder);
  const pid_t child = fork();
  Require(child >= 0, "fork");
  if (child == 0) {
    (*holder)->block = malloc(100000);
    Forget();
    printf("%d\n", (int)getpid());
    fflush(stdout);
    char byte;
    while (read(0, &byte, 1) > 0) {
    }
    return 0;
  }
  waitpid(child, NULL, 0);
  return 0;
}
