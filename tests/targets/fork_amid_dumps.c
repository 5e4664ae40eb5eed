// Forks while another thread allocates so much that it dumps nearly all the time. A child that has
// allocated as well must not be left with the descriptor of a dump that is not its own.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kForks = 100, kBlock = 600000, kFirst = 512, kLast = 1024 };

static atomic_int stop;

static void* churn(void* unused) {
  (void)unused;
  while (!stop) {
    volatile char* block = malloc(kBlock);
    block[0] = 1;
    free((void*)block);
  }
  return NULL;
}

// Dumps are written with numbers from 512 on.
static int open_dumps(void) {
  int dumps = 0;
  for (int fd = kFirst; fd < kLast; ++fd) {
    char link[64];
    char path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) continue;
    path[length] = '\0';
    dumps += strstr(path, ".hg") != NULL;
  }
  return dumps;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, churn, NULL);
  int leftover = 0;
  for (int i = 0; i < kForks; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      for (int k = 0; k < 20; ++k) {
        volatile char* block = malloc(kBlock);
        block[0] = 1;
        free((void*)block);
      }
      _exit(open_dumps() != 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    leftover += status != 0;
  }
  stop = 1;
  pthread_join(thread, NULL);
  // A fork in the moment between the call that opens and the note of it cannot be helped.
  printf("leftover %s\n", leftover <= kForks / 10 ? "none" : "many");
  return 0;
}
