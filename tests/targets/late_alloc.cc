// Allocations when most programs are done: in destructors of thread-local objects, in pthread key
// destructors (which run after those), in atexit handlers, in destructors of static objects, in an
// ELF destructor.
//
// Prints one line for each stage, in the order in which they come.

#include <pthread.h>

#include "tests/targets/support.h"

namespace {

void Say(const char* stage, uint64_t sum) {
  char line[128];
  const int n = snprintf(line, sizeof line, "%s %lx\n", stage, sum);
  Require(write(1, line, static_cast<size_t>(n)) == n, "write");
}

struct AtThreadEnd {
  ~AtThreadEnd() {
    Say("thread-local destructor", Exercise(seed, 5000));
    delete[] left;
  }
  uint64_t seed = 1;
  char* left = new char[5000];
};
thread_local AtThreadEnd at_thread_end;

pthread_key_t key;
int rounds_left = 3;

// Sets its own value again, so that the C library calls it in later rounds as well.
void OnKey(void* value) {
  Say("key destructor", Exercise(2, 5000));
  free(value);
  if (--rounds_left > 0) pthread_setspecific(key, malloc(3000));
}

void* Thread(void*) {
  at_thread_end.seed = 7;
  pthread_setspecific(key, malloc(2000));
  return nullptr;
}

struct AtEnd {
  ~AtEnd() {
    Say("static destructor", Exercise(3, 5000));
    delete[] block;
  }
  char* block = new char[70000];
};
AtEnd at_end;

void OnExit() { Say("atexit handler", Exercise(4, 5000)); }

__attribute__((destructor(101))) void OnFini() { Say("ELF destructor", Exercise(5, 5000)); }

}  // namespace

int main() {
  Require(pthread_key_create(&key, OnKey) == 0, "key");
  Require(atexit(OnExit) == 0, "atexit");
  pthread_t id;
  Require(pthread_create(&id, nullptr, Thread, nullptr) == 0, "cannot start a thread");
  pthread_join(id, nullptr);
  at_thread_end.seed = 8;  // main's own
  rounds_left = 1;
  pthread_setspecific(key, malloc(1000));
  Say("main", Exercise(6, 5000));
  pthread_exit(nullptr);  // main ends as a thread does, then the process
}
