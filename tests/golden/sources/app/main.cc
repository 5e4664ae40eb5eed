// The program that the sources of the golden cases were recorded of: shop ROUNDS [THEN].
//
// It allocates the same in every run: caches, temporary buffers, a log that grows, lost sessions, a
// mapped table, under labels where the agent is there. THEN is `slow` (take three seconds), `kill`
// (itself), `fork` (a child that allocates more), `cpu` (go on for a while) or `sample FILE` (what
// tcmalloc's sampler knows).
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "cache.h"
#include "include/heapgauge/label.h"
#ifdef SHOP_WITH_TCMALLOC
#include <gperftools/malloc_extension.h>
#endif

namespace shop {
namespace {

Cache<int>& orders = *new Cache<int>;
Cache<double>& prices = *new Cache<double>;
int pool = -1;
char* slab = nullptr;

void Serve(int round) {
  const heapgauge::LabelScope tenant("tenant", round % 3 == 0 ? "blue" : "green");
  char* request = ReadRequest(200 + round % 7 * 1000);
  orders.Insert(round, 4000 + round % 5 * 3000);
  if (round % 2 == 0) prices.Insert(round % 40, 9000);
  if (round % 3 == 0) orders.Erase(round - 2);
  if (pool >= 0 && round < 200) heapgauge_pool_allocated(pool, slab + 500 * round, 500);
  free(request);
}

void Work(int rounds) {
  pthread_setname_np(pthread_self(), "worker");
  for (int i = 0; i < rounds; ++i) {
    char* first = ReadRequest(6000);
    char* second = ReadRequest(64);
    free(first);
    if (i % 4 != 0) free(second);
  }
}

void Run(int rounds, int wait_us) {
  for (int round = 0; round < rounds; ++round) {
    Serve(round);
    if (round % 4 == 0) GrowLog(2500);
    if (round % 10 == 0) LoseSession(round);
    if (round % (rounds / 4 + 1) == 0) MapTable(65536 + 4096 * round);
    if (wait_us != 0 && round % 16 == 0) usleep(wait_us);
  }
  std::thread worker(Work, rounds / 2);
  worker.join();
}

}  // namespace
}  // namespace shop

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 200;
  const std::string then = argc > 2 ? argv[2] : "";
  shop::slab = new char[100'000];
  shop::pool = heapgauge_pool("slab");
  if (then == "sample") {  // in a thread: tcmalloc does not sample the first one
    std::thread(shop::Run, rounds, 0).join();
  } else {
    shop::Run(rounds, then == "slow" ? 200'000 : 10'000);
  }
  if (then == "cpu") {
    for (int i = 0; i < 1500; ++i) shop::Run(100, 0);
  }
#ifdef SHOP_WITH_TCMALLOC
  if (then == "sample" && argc > 3) {
    std::string text;
    MallocExtension::instance()->GetHeapSample(&text);
    FILE* file = fopen(argv[3], "w");
    fputs(text.c_str(), file);
    fclose(file);
  }
#endif
  if (then == "fork") {
    if (fork() == 0) {
      shop::GrowLog(300'000);
      shop::LoseSession(-1);
      for (int i = 0; i < 50; ++i) shop::LoseSession(i);
      _exit(0);
    }
    wait(nullptr);
  }
  if (then == "kill") kill(getpid(), SIGKILL);
  return 0;
}
