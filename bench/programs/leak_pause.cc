// How long a program with much memory stands still for a leak check: a picture is taken of it, as a
// check does it, and between two of these the program forks by itself, which is the part of the
// pause that is the kernel's. Prints both lists, in milliseconds.
//
//     leak_pause MIB ROUNDS
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "core/leaks/capture/picture.h"

namespace {

constexpr int kThreads = 4;

double Milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// The memory is in pages of 4 KiB, the most costly to copy, and some of it is always being written.
char* MakeMemory(uint64_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  auto* start = static_cast<char*>(memory);
  for (uint64_t at = 0; at < bytes; at += 4096) start[at] = 1;
  for (int i = 0; i < kThreads; ++i) {
    std::thread([start, bytes, i] {
      for (uint64_t at = static_cast<uint64_t>(i) * 4096;; at = (at + (7 << 20)) % bytes) {
        static_cast<volatile char*>(start)[at] = 2;
        usleep(1000);
      }
    }).detach();
  }
  return start;
}

double ForkOnce() {
  const double start = Milliseconds();
  const pid_t copy = fork();
  if (copy == 0) {
    for (;;) pause();
  }
  const double took = Milliseconds() - start;
  if (copy < 0) return -1;
  kill(copy, SIGKILL);
  waitpid(copy, nullptr, 0);
  return took;
}

// Forks whenever it is asked to, and tells how long that took.
[[noreturn]] void RunProgram(uint64_t bytes, int ask, int answer) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (MakeMemory(bytes) == nullptr) _exit(2);
  double took = 0;
  char byte = 0;
  do {
    if (write(answer, &took, sizeof took) != sizeof took || read(ask, &byte, 1) != 1) _exit(2);
    took = ForkOnce();
  } while (true);
}

void Print(const char* name, const std::vector<double>& values) {
  printf("\"%s\": [", name);
  for (size_t i = 0; i < values.size(); ++i) printf("%s%.3f", i == 0 ? "" : ", ", values[i]);
  printf("]");
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t mib = argc > 1 ? strtoull(argv[1], nullptr, 10) : 2048;
  const int rounds = argc > 2 ? atoi(argv[2]) : 30;
  int ask[2];
  int answer[2];
  if (pipe(ask) != 0 || pipe(answer) != 0) return 2;
  const pid_t program = fork();
  if (program == 0) RunProgram(mib << 20, ask[0], answer[1]);
  close(answer[1]);
  double took = 0;
  const auto wait = [&] { return read(answer[0], &took, sizeof took) == sizeof took; };
  if (program < 0 || !wait()) return 2;
  std::vector<double> pauses;
  std::vector<double> forks;
  for (int i = 0; i < rounds; ++i) {
    const auto picture = heapgauge::leaks::Picture::Take(static_cast<uint32_t>(program), {});
    if (!picture) {
      fprintf(stderr, "leak_pause: %s\n", picture.error().message.c_str());
      break;
    }
    (*picture)->Release();
    pauses.push_back(static_cast<double>((*picture)->pause_ns()) / 1e6);
    if (write(ask[1], "", 1) != 1 || !wait()) break;
    forks.push_back(took);
  }
  kill(program, SIGKILL);
  waitpid(program, nullptr, 0);
  printf("{");
  Print("pauses", pauses);
  printf(", ");
  Print("forks", forks);
  printf("}\n");
  return 0;
}
