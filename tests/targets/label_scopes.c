// Allocates under labels, through heapgauge/heapgauge.h, and prints what the calls answer.
//
//   label_scopes scopes|threads|fork|full|deep|handler
//
// scopes: nested scopes, an inner value that hides the outer one, a missing pop, a thread that is
// named within a scope. threads: 200 threads, each under labels of its own. fork: a child goes on
// under its parent's labels and adds one. full: pushes values until there is no room, and goes on.
// deep: nests more scopes than a set can hold. handler: pushes and pops in a signal handler while
// main does. Each function Keep... keeps 500 blocks of 4096 bytes.

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "include/heapgauge/heapgauge.h"
#include "tests/targets/support.h"

enum { kBlocks = 500, kBytes = 4096, kThreads = 200 };

HG_NOINLINE void Keep(int blocks) {
  for (int i = 0; i < blocks; ++i) Escape(malloc(kBytes));
}

static void Scopes(void) {
  Keep(kBlocks);  // no labels
  const int64_t handler = heapgauge_push_label("handler", "search");
  Keep(kBlocks);  // handler=search
  const int64_t tenant = heapgauge_push_label("tenant", "blue");
  Keep(kBlocks);  // handler=search tenant=blue
  const int64_t inner = heapgauge_push_label("handler", "rank");
  Keep(kBlocks);  // handler=rank tenant=blue
  const int64_t again = heapgauge_push_label("handler", "rank");
  heapgauge_pop_label(again);
  heapgauge_pop_label(inner);
  const int64_t missed = heapgauge_push_label("lost", "yes");
  printf("tokens %d\n", handler >= 0 && tenant >= 0 && inner >= 0 && again >= 0 && missed >= 0);
  heapgauge_pop_label(tenant);  // makes up for the pop that is missing
  Keep(kBlocks);                // handler=search
  printf("name %d\n", heapgauge_name_thread("main"));
  Keep(kBlocks);  // handler=search thread=main
  heapgauge_pop_label(handler);
  Keep(kBlocks);  // thread=main
  printf("no name %d\n", heapgauge_name_thread(NULL));
  Keep(kBlocks);  // no labels
  printf("invalid %d %d\n", (int)heapgauge_push_label("", "x"),
         (int)heapgauge_push_label("x", NULL));
  heapgauge_pop_label(-2);
  heapgauge_pop_label(12345);  // nobody's
  Keep(kBlocks);               // no labels
}

static void* InThread(void* argument) {
  char name[32];
  snprintf(name, sizeof name, "worker-%02d", (int)((intptr_t)argument % 4));
  Require(heapgauge_name_thread(name) == HEAPGAUGE_OK, "cannot name a thread");
  for (int round = 0; round < 200; ++round) {
    char value[32];
    snprintf(value, sizeof value, "r%d", round % 50);
    const int64_t token = heapgauge_push_label("round", value);
    const int64_t parity = heapgauge_push_label("parity", round % 2 ? "odd" : "even");
    Require(token >= 0 && parity >= 0, "no label");
    if (round % 20 == 0) Keep(1);
    heapgauge_pop_label(parity);
    heapgauge_pop_label(token);
  }
  return NULL;
}

static void Threads(void) {
  static pthread_t ids[kThreads];
  for (intptr_t i = 0; i < kThreads; ++i) {
    Require(pthread_create(&ids[i], NULL, InThread, (void*)i) == 0, "cannot start a thread");
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(ids[i], NULL);
}

static void Fork(void) {
  const int64_t token = heapgauge_push_label("side", "parent");
  Keep(kBlocks);
  fflush(stdout);
  const pid_t child = fork();
  Require(child >= 0, "cannot fork");
  if (child == 0) {
    const int64_t more = heapgauge_push_label("job", "child");
    Require(more >= 0, "no label in the child");
    Keep(kBlocks);  // side=parent job=child
    heapgauge_pop_label(more);
    heapgauge_pop_label(token);
    Keep(kBlocks);  // no labels
    _exit(0);
  }
  int status = 1;
  Require(waitpid(child, &status, 0) == child && status == 0, "the child failed");
}

static void Full(void) {
  const int64_t outer = heapgauge_push_label("outer", "yes");
  Require(outer >= 0, "no label");
  int pushed = 0;
  int64_t code = 0;
  for (int i = 0; i < 100000; ++i) {
    char value[32];
    snprintf(value, sizeof value, "request-%d", i);
    code = heapgauge_push_label("request", value);
    if (code < 0) break;
    ++pushed;
    heapgauge_pop_label(code);
  }
  printf("pushed %d then %d\n", pushed, (int)code);
  Keep(kBlocks);  // outer=yes
  const int64_t known = heapgauge_push_label("request", "request-7");
  printf("known %d\n", known >= 0);
  Keep(kBlocks);  // outer=yes request=request-7
  heapgauge_pop_label(known);
  heapgauge_pop_label(code);
  heapgauge_pop_label(outer);
}

static void Deep(void) {
  int64_t tokens[100];
  int accepted = 0;
  for (int i = 0; i < 100; ++i) {
    char key[16];
    snprintf(key, sizeof key, "k%d", i);
    tokens[i] = heapgauge_push_label(key, "v");
    accepted += tokens[i] >= 0;
  }
  printf("accepted %d then %d\n", accepted, (int)tokens[99]);
  Keep(kBlocks);
  for (int i = 100; i-- > 0;) heapgauge_pop_label(tokens[i]);
  // Recursion under one label needs no depth.
  for (int i = 0; i < 100; ++i) tokens[i] = heapgauge_push_label("same", "value");
  printf("same %d\n", tokens[99] >= 0);
  for (int i = 100; i-- > 0;) heapgauge_pop_label(tokens[i]);
  Keep(kBlocks);  // no labels
}

static volatile sig_atomic_t handled;

static void Handler(int number) {
  (void)number;
  char value[16] = "h0";
  value[1] = (char)('0' + handled % 8);
  const int64_t token = heapgauge_push_label("handler", value);
  const int64_t more = heapgauge_push_label("more", value);
  heapgauge_pop_label(more);
  heapgauge_pop_label(token);
  handled = handled + 1;
}

static void InHandler(void) {
  struct sigaction action = {0};
  action.sa_handler = Handler;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 300}, {0, 300}};
  setitimer(ITIMER_REAL, &often, NULL);
  for (int i = 0; handled < 1000; ++i) {
    char value[16];
    snprintf(value, sizeof value, "v%d", i % 1000);
    const int64_t token = heapgauge_push_label("main", value);
    Require(token >= 0, "no label");
    free(malloc((size_t)(i % 5000)));
    heapgauge_pop_label(token);
  }
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, NULL);
  Keep(kBlocks);  // no labels
}

int main(int argc, char** argv) {
  Require(argc == 2, "usage: label_scopes scopes|threads|fork|full|deep|handler");
  static char output[4096];
  setvbuf(stdout, output, _IOFBF, sizeof output);
  if (strcmp(argv[1], "scopes") == 0) Scopes();
  if (strcmp(argv[1], "threads") == 0) Threads();
  if (strcmp(argv[1], "fork") == 0) Fork();
  if (strcmp(argv[1], "full") == 0) Full();
  if (strcmp(argv[1], "deep") == 0) Deep();
  if (strcmp(argv[1], "handler") == 0) InHandler();
  puts("done");
  return 0;
}
