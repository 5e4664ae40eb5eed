// Our scan of the heap in leak_heap.h, as a check of a program does it: of a copy that another
// process is made to fork. Prints the CPU time of the scan, that of the copy and of the thread that
// holds it included, and how long the program stood still for the copy.
//
//     leak_scan BLOCKS LINKS [ROUNDS]
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "bench/programs/leak_heap.h"
#include "core/leaks/capture/picture.h"
#include "core/leaks/scan/scan.h"

namespace {

using heapgauge::leaks::Kind;
using heapgauge::leaks::KnownBlock;

// What the program tells, in memory that both share.
struct Shared {
  uint64_t lost;
  size_t count;
  KnownBlock blocks[1];
};
Shared* shared;

void Remember(void* address, size_t size) {
  KnownBlock& block = shared->blocks[shared->count++];
  block.address = reinterpret_cast<uint64_t>(address);
  block.size = size;
}

// Starts the program; its process once the heap is there, or -1.
pid_t StartProgram(uint64_t blocks, uint64_t links) {
  int ready[2];
  if (pipe(ready) != 0) return -1;
  const pid_t program = fork();
  if (program == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    shared->lost = leak_heap::Build(blocks, links, Remember);
    if (write(ready[1], "", 1) != 1) _exit(2);
    for (;;) pause();
  }
  close(ready[1]);
  char byte = 0;
  const bool there = program > 0 && read(ready[0], &byte, 1) == 1;
  close(ready[0]);
  return there ? program : -1;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t wanted = argc > 1 ? strtoull(argv[1], nullptr, 10) : 1000000;
  const uint64_t links = argc > 2 ? strtoull(argv[2], nullptr, 10) : 4;
  const int rounds = argc > 3 ? atoi(argv[3]) : 1;
  void* memory = mmap(nullptr, sizeof(Shared) + (wanted + 2) * sizeof(KnownBlock),
                      PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 2;
  shared = static_cast<Shared*>(memory);
  const pid_t program = StartProgram(wanted, links);
  if (program < 0) return 2;
  std::vector<KnownBlock> blocks(shared->blocks, shared->blocks + shared->count);
  std::sort(blocks.begin(), blocks.end(),
            [](const KnownBlock& a, const KnownBlock& b) { return a.address < b.address; });
  heapgauge::leaks::Roots roots;
  const auto globals = reinterpret_cast<uint64_t>(&leak_heap::globals);
  roots.ranges.push_back(
      {{globals, globals + sizeof leak_heap::globals}, heapgauge::leaks::RootKind::kData, 0, 0});
  for (int round = 0; round < rounds; ++round) {
    const auto picture = heapgauge::leaks::Picture::Take(static_cast<uint32_t>(program), {});
    if (!picture) {
      fprintf(stderr, "leak_scan: %s\n", picture.error().message.c_str());
      break;
    }
    const heapgauge::leaks::CopyImage image(picture->get());
    const auto result = heapgauge::leaks::Scan(image, blocks, true, roots, {});
    (*picture)->Release();
    uint64_t kinds[heapgauge::leaks::kKinds] = {};
    for (const auto& verdict : result.verdicts) ++kinds[static_cast<size_t>(verdict.kind)];
    const uint64_t lost =
        kinds[static_cast<size_t>(Kind::kDefinite)] + kinds[static_cast<size_t>(Kind::kIndirect)];
    printf(
        "{\"seconds\": %.6f, \"planted\": %lu, \"lost\": %lu, \"possible\": %lu, \"bytes\": %lu, "
        "\"paused\": %.6f}\n",
        static_cast<double>(result.cpu_ns) / 1e9, shared->lost, lost,
        kinds[static_cast<size_t>(Kind::kPossible)], result.scanned_bytes,
        static_cast<double>((*picture)->pause_ns()) / 1e9);
  }
  kill(program, SIGKILL);
  waitpid(program, nullptr, 0);
  return 0;
}
