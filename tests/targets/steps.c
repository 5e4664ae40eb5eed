// Does what it is told, one step after the other.
//
//   steps STEP...
//     keep BYTES COUNT    takes blocks and keeps them (KeepBlocks)
//     churn BYTES COUNT   takes blocks and frees each at once (ChurnBlocks)
//     drop                frees all that was kept
//     map BYTES           maps memory past the allocator, and touches it
//     sleep MS
//     cd PATH
//     fsize BYTES         sets RLIMIT_FSIZE
//     as BYTES            sets RLIMIT_AS to so much above what it has
//     seccomp             installs a filter that allows everything
//     fork                a child does the rest; the parent waits for it, then does it too
//     threads N           N threads do the rest at the same time
//     handover            a thread does the rest; the first one ends
//     say TEXT            prints a line
//     quit                _exit, without the farewells of exit
//     quick               quick_exit, with farewells of its own
//
// Sizes take K and M.

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/targets/support.h"

enum { kMostKept = 1 << 16 };
static void* kept[kMostKept];
static unsigned kept_count;

static size_t Size(const char* text) {
  char* end;
  const size_t number = strtoull(text, &end, 10);
  return *end == 'K' ? number << 10 : *end == 'M' ? number << 20 : number;
}

static HG_NOINLINE void KeepBlocks(size_t size, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    void* block = malloc(size);
    Require(block != NULL, "out of memory");
    memset(block, 1, size);
    const unsigned at = __atomic_fetch_add(&kept_count, 1, __ATOMIC_RELAXED);
    Require(at < kMostKept, "too many blocks");
    kept[at] = block;
  }
}

static HG_NOINLINE void ChurnBlocks(size_t size, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    void* block = malloc(size);
    Require(block != NULL, "out of memory");
    Escape(block);
    free(block);
  }
}

static void InstallFilter(void) {
  struct sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const struct sock_fprog program = {1, allow};
  Require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
  Require(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "seccomp");
}

static void SetLimit(int resource, rlim_t bytes) {
  const struct rlimit limit = {bytes, bytes};
  Require(setrlimit(resource, &limit) == 0, "setrlimit");
}

static void DoSteps(char** step);

static void* Thread(void* steps) {
  DoSteps((char**)steps);
  return NULL;
}

static void DoSteps(char** step) {
  while (*step != NULL) {
    const char* what = *step++;
    errno = 0;
    if (strcmp(what, "keep") == 0) {
      KeepBlocks(Size(step[0]), Size(step[1]));
      step += 2;
    } else if (strcmp(what, "churn") == 0) {
      ChurnBlocks(Size(step[0]), Size(step[1]));
      step += 2;
    } else if (strcmp(what, "drop") == 0) {
      while (kept_count > 0) free(kept[--kept_count]);
    } else if (strcmp(what, "map") == 0) {
      const size_t size = Size(*step++);
      char* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      Require(memory != MAP_FAILED, "mmap");
      for (size_t i = 0; i < size; i += 4096) memory[i] = 1;
    } else if (strcmp(what, "sleep") == 0) {
      const long ms = atol(*step++);
      const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
      nanosleep(&time, NULL);
    } else if (strcmp(what, "cd") == 0) {
      Require(chdir(*step++) == 0, "chdir");
    } else if (strcmp(what, "fsize") == 0) {
      SetLimit(RLIMIT_FSIZE, Size(*step++));
    } else if (strcmp(what, "as") == 0) {
      SetLimit(RLIMIT_AS, (rlim_t)StatusKiB("VmSize:") * 1024 + Size(*step++));
    } else if (strcmp(what, "seccomp") == 0) {
      InstallFilter();
    } else if (strcmp(what, "fork") == 0) {
      const pid_t child = fork();
      int status = 0;
      if (child != 0) Require(waitpid(child, &status, 0) == child && status == 0, "the child");
    } else if (strcmp(what, "threads") == 0) {
      pthread_t thread[64];
      const int count = atoi(*step++);
      for (int i = 0; i < count; ++i) {
        Require(pthread_create(&thread[i], NULL, Thread, step) == 0, "pthread_create");
      }
      for (int i = 0; i < count; ++i) pthread_join(thread[i], NULL);
      return;
    } else if (strcmp(what, "handover") == 0) {
      pthread_t thread;
      Require(pthread_create(&thread, NULL, Thread, step) == 0, "pthread_create");
      pthread_exit(NULL);
    } else if (strcmp(what, "say") == 0) {
      puts(*step++);
      fflush(stdout);
    } else if (strcmp(what, "quit") == 0) {
      _exit(0);
    } else if (strcmp(what, "quick") == 0) {
      quick_exit(0);
    } else {
      Require(0, "no such step");
    }
    Require(errno == 0 || strcmp(what, "fork") == 0 || strcmp(what, "say") == 0, "errno changed");
  }
}

int main(int argc, char** argv) {
  (void)argc;
  DoSteps(argv + 1);
  return 0;
}
