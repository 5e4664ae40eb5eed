// A leak check by others of the heap in leak_heap.h: of LeakSanitizer where it is built with it, of
// memcheck where it runs under Valgrind. Prints the CPU time of the check alone, that of processes
// that it started included, and what the check found as far as it tells.
//
//     leak_peer BLOCKS LINKS
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
#include <valgrind/memcheck.h>

#include <initializer_list>

#include "bench/programs/leak_heap.h"

extern "C" int __lsan_do_recoverable_leak_check() __attribute__((weak));

namespace {

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double CpuSeconds() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    seconds += Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
  }
  return seconds;
}

// What earlier calls left on the stack may look like pointers.
__attribute__((noinline)) void WipeStack() {
  volatile char bytes[256 << 10];
  for (volatile char& byte : bytes) byte = 0;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t blocks = argc > 1 ? strtoull(argv[1], nullptr, 10) : 1000000;
  const uint64_t links = argc > 2 ? strtoull(argv[2], nullptr, 10) : 4;
  const uint64_t lost = leak_heap::Build(blocks, links, nullptr);
  WipeStack();
  const double start = CpuSeconds();
  if (RUNNING_ON_VALGRIND != 0) {
    VALGRIND_DO_QUICK_LEAK_CHECK;
  } else if (__lsan_do_recoverable_leak_check != nullptr) {
    __lsan_do_recoverable_leak_check();
  } else {
    fprintf(stderr, "leak_peer: nobody here checks for leaks\n");
    return 2;
  }
  const double seconds = CpuSeconds() - start;
  [[maybe_unused]] unsigned long leaked = 0, dubious = 0, reachable = 0, suppressed = 0;
  VALGRIND_COUNT_LEAK_BLOCKS(leaked, dubious, reachable, suppressed);
  printf("{\"seconds\": %.6f, \"planted\": %lu, \"lost\": %lu, \"possible\": %lu}\n", seconds, lost,
         leaked, dubious);
  fflush(stdout);
  _exit(0);
}
