// A program that allocates from many places deep down, as services do: `deep_stacks PAIRS THREADS`
//
// Each thread stands 19 calls deep and goes, for each allocation, six more down, at five of them to
// one of seven functions: 16,807 stacks of 30 frames, of which 8 change from one to the next. Each
// stack has four sizes. A quarter of the blocks is freed at once, the rest when its place in a ring
// of 4,096 comes round again. Prints the number of pairs.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr int kOuter = 19;
constexpr int kInner = 6;
constexpr uint32_t kChoices = 7;
constexpr uint32_t kPlaces = 4096;

struct Work {
  uint64_t pairs = 0;
  uint64_t random = 0;
  uint32_t path = 0;   // choices still to be made
  uint32_t stack = 0;  // and those made
  std::vector<void*> ring;
  uint32_t next = 0;

  uint64_t Random() {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return random;
  }
};

// Work behind a call, so that it is no jump.
inline void AfterCall(Work* work) { __asm__ volatile("" : : "r"(work) : "memory"); }

void AtTheLeaf(Work* work) {
  const uint64_t random = work->Random();
  const size_t size = 16 + 24 * (work->stack % 40) + 8 * (random & 3);
  void* block = malloc(size);
  *static_cast<volatile char*>(block) = 1;
  if ((random >> 8 & 3) == 0) {
    free(block);
    return;
  }
  void*& place = work->ring[work->next++ % kPlaces];
  free(place);
  place = block;
}

template <int kLevel, uint32_t kBranch>
__attribute__((noinline)) void Descend(Work* work) {
  work->stack = work->stack * kChoices + kBranch;
  if constexpr (kLevel == kInner) {
    AtTheLeaf(work);
  } else {
    const uint32_t choice = work->path % kChoices;
    work->path /= kChoices;
    switch (choice) {
      case 0:
        Descend<kLevel + 1, 0>(work);
        break;
      case 1:
        Descend<kLevel + 1, 1>(work);
        break;
      case 2:
        Descend<kLevel + 1, 2>(work);
        break;
      case 3:
        Descend<kLevel + 1, 3>(work);
        break;
      case 4:
        Descend<kLevel + 1, 4>(work);
        break;
      case 5:
        Descend<kLevel + 1, 5>(work);
        break;
      default:
        Descend<kLevel + 1, 6>(work);
        break;
    }
  }
  AfterCall(work);
}

template <int kDepth>
__attribute__((noinline)) void Outer(Work* work) {
  if constexpr (kDepth == kOuter) {
    for (uint64_t i = 0; i < work->pairs; ++i) {
      work->path = static_cast<uint32_t>(work->Random() >> 20);
      work->stack = 0;
      Descend<1, 0>(work);
    }
  } else {
    Outer<kDepth + 1>(work);
  }
  AfterCall(work);
}

void Run(uint64_t pairs, uint64_t seed) {
  Work work;
  work.pairs = pairs;
  work.random = seed * 0x9e3779b97f4a7c15 + 1;
  work.ring.resize(kPlaces);
  Outer<1>(&work);
  for (void* block : work.ring) free(block);
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t pairs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000000;
  const unsigned threads = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 2;
  if (pairs == 0 || threads == 0) return 2;
  std::vector<std::thread> running;
  for (unsigned i = 0; i < threads; ++i) running.emplace_back(Run, pairs / threads, i + 1);
  for (std::thread& thread : running) thread.join();
  std::printf("%llu pairs\n", static_cast<unsigned long long>(pairs / threads * threads));
  return 0;
}
