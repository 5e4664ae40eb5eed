// Allocates known amounts from known functions, in a seeded order, and prints the truth.
//
//   known_amounts [--threads N] [--seed S] [--scale X] [--hold]
//
// Output: for each function one line "NAME LIVE_BYTES ALLOCATED_BYTES LIVE_OBJECTS
// ALLOCATED_OBJECTS" (requested sizes, exact), then "total" in the same form, then "done". The
// names are those of the functions in a profile. Everything but a few hundred bytes of the C
// library comes from these functions: the program keeps its own records in mmapped memory. A
// realloc counts as one more object of the new size whose predecessor was freed. With --hold the
// program then waits for the end of its standard input, so that it can be looked at or killed. It
// never frees what it keeps. Output depends on the arguments alone, not on the allocator. At scale
// 1 each function but Churn keeps about 32 MiB.

#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>

#include <cmath>
#include <initializer_list>
#include <new>

#include "tests/targets/support.h"

namespace {

struct Tally {
  uint64_t live_bytes = 0;
  uint64_t allocated_bytes = 0;
  uint64_t live_objects = 0;
  uint64_t allocated_objects = 0;

  void Allocated(size_t size) {
    live_bytes += size;
    allocated_bytes += size;
    ++live_objects;
    ++allocated_objects;
  }
  void Freed(size_t size) {
    live_bytes -= size;
    --live_objects;
  }
};

// Blocks that will be freed wait in a ring, so that their lives overlap with later ones.
struct Pending {
  void* block;
  size_t size;
  unsigned function;
};
constexpr size_t kRing = 256;

struct Worker {
  uint64_t random = 1;
  uint64_t share_of = 1;  // the work is cut into that many parts
  double scale = 1;
  size_t cursor = 0;
  Pending ring[kRing] = {};
  Tally tally[8];
};

enum : unsigned { kSmall, kMixed, kLarge, kChurn, kNew, kCalloc, kRealloc, kAligned, kFunctions };

}  // namespace

// Global names, so that they read the same in every report.
HG_NOINLINE void* SmallOnly(size_t size) {
  void* p = malloc(size);
  Escape(p);
  return p;
}
HG_NOINLINE void* Mixed(size_t size) {
  void* p = malloc(size);
  Escape(p);
  return p;
}
HG_NOINLINE void* LargeOnly(size_t size) {
  void* p = malloc(size);
  Escape(p);
  return p;
}
HG_NOINLINE void* Churn(size_t size) {
  void* p = malloc(size);
  Escape(p);
  return p;
}
HG_NOINLINE void* NewObjects(size_t size) {
  void* p = ::operator new(size);
  Escape(p);
  return p;
}
HG_NOINLINE void* CallocArrays(size_t size) {
  void* p = calloc(size, 1);
  Escape(p);
  return p;
}
// Grows a buffer by doubling until it holds `size` bytes.
HG_NOINLINE void* GrowByRealloc(size_t size, Tally* tally) {
  void* p = nullptr;
  size_t had = 0;
  for (size_t next = size < 64 ? size : 64; had < size; next = next * 2 < size ? next * 2 : size) {
    p = realloc(p, next);
    Escape(p);
    if (had != 0) tally->Freed(had);
    tally->Allocated(next);
    had = next;
  }
  return p;
}
HG_NOINLINE void* AlignedBlocks(size_t size, size_t alignment) {
  void* p = memalign(alignment, size);
  Escape(p);
  return p;
}

namespace {

struct Plan {
  const char* name;
  size_t smallest;
  size_t largest;
  double bytes;   // to allocate at scale 1
  unsigned kept;  // out of 8
};
constexpr double kMiB = 1048576;
constexpr Plan kPlans[kFunctions] = {
    {"SmallOnly", 16, 256, 64 * kMiB, 4},           {"Mixed", 32, 262144, 64 * kMiB, 4},
    {"LargeOnly", 262144, 4194304, 192 * kMiB, 2},  {"Churn", 64, 65536, 192 * kMiB, 0},
    {"NewObjects", 24, 4096, 48 * kMiB, 6},         {"CallocArrays", 100, 65536, 48 * kMiB, 6},
    {"GrowByRealloc", 1000, 1048576, 64 * kMiB, 6}, {"AlignedBlocks", 64, 131072, 48 * kMiB, 6},
};

// Log-uniform between the plan's bounds.
size_t DrawSize(const Plan& plan, uint64_t* random) {
  const double u = static_cast<double>(NextRandom(random) >> 11) * 0x1p-53;
  const double ratio = static_cast<double>(plan.largest) / static_cast<double>(plan.smallest);
  return static_cast<size_t>(static_cast<double>(plan.smallest) * std::pow(ratio, u));
}

uint64_t Operations(const Plan& plan, const Worker& worker) {
  const auto low = static_cast<double>(plan.smallest);
  const auto high = static_cast<double>(plan.largest);
  const double mean = (high - low) / std::log(high / low);
  return static_cast<uint64_t>(
      worker.scale * plan.bytes / mean / static_cast<double>(worker.share_of) + 1);
}

void* Allocate(Worker* worker, unsigned function, size_t size) {
  Tally* tally = &worker->tally[function];
  if (function == kRealloc) return GrowByRealloc(size, tally);
  tally->Allocated(size);
  switch (function) {
    case kSmall:
      return SmallOnly(size);
    case kMixed:
      return Mixed(size);
    case kLarge:
      return LargeOnly(size);
    case kChurn:
      return Churn(size);
    case kNew:
      return NewObjects(size);
    case kCalloc:
      return CallocArrays(size);
    default:
      return AlignedBlocks(size, size_t{64} << NextRandom(&worker->random) % 7);
  }
}

void Release(Worker* worker, Pending* pending) {
  if (pending->block == nullptr) return;
  worker->tally[pending->function].Freed(pending->size);
  if (pending->function == kNew) {
    ::operator delete(pending->block);
  } else {
    free(pending->block);
  }
  pending->block = nullptr;
}

void* Work(void* argument) {
  auto* worker = static_cast<Worker*>(argument);
  uint64_t total = 0;
  uint64_t left[kFunctions];
  for (unsigned f = 0; f < kFunctions; ++f) total += left[f] = Operations(kPlans[f], *worker);

  // The order of all operations, shuffled.
  auto* order = static_cast<unsigned char*>(
      mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  uint64_t at = 0;
  for (unsigned f = 0; f < kFunctions; ++f) {
    for (; left[f] > 0; --left[f]) order[at++] = static_cast<unsigned char>(f);
  }
  for (uint64_t i = total - 1; i > 0; --i) {
    const uint64_t j = NextRandom(&worker->random) % (i + 1);
    const unsigned char held = order[i];
    order[i] = order[j];
    order[j] = held;
  }

  for (uint64_t i = 0; i < total; ++i) {
    const unsigned function = order[i];
    const size_t size = DrawSize(kPlans[function], &worker->random);
    void* block = Allocate(worker, function, size);
    Require(block != nullptr, "out of memory");
    *static_cast<volatile char*>(block) = 1;
    if (NextRandom(&worker->random) % 8 < kPlans[function].kept) continue;
    Pending* pending = &worker->ring[worker->cursor++ % kRing];
    Release(worker, pending);
    *pending = {block, size, function};
  }
  for (Pending& pending : worker->ring) Release(worker, &pending);
  munmap(order, total);
  return nullptr;
}

void Print(const char* name, const Tally& tally) {
  printf("%s %lu %lu %lu %lu\n", name, tally.live_bytes, tally.allocated_bytes, tally.live_objects,
         tally.allocated_objects);
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t threads = 1;
  uint64_t seed = 1;
  double scale = 1;
  bool hold = false;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--hold") == 0) {
      hold = true;
    } else if (i + 1 < argc && strcmp(argv[i], "--threads") == 0) {
      threads = strtoull(argv[++i], nullptr, 10);
    } else if (i + 1 < argc && strcmp(argv[i], "--seed") == 0) {
      seed = strtoull(argv[++i], nullptr, 10);
    } else if (i + 1 < argc && strcmp(argv[i], "--scale") == 0) {
      scale = strtod(argv[++i], nullptr);
    } else {
      fprintf(stderr, "usage: known_amounts [--threads N] [--seed S] [--scale X] [--hold]\n");
      return 2;
    }
  }
  constexpr uint64_t kMaxThreads = 1024;
  Require(threads >= 1 && threads <= kMaxThreads, "threads must lie between 1 and 1024");
  static char output[8192];
  setvbuf(stdout, output, _IOFBF, sizeof output);

  auto* workers =
      static_cast<Worker*>(mmap(nullptr, threads * sizeof(Worker), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  static pthread_t ids[kMaxThreads];
  for (uint64_t t = 0; t < threads; ++t) {
    auto* worker = new (&workers[t]) Worker;
    worker->random = (seed * kMaxThreads + t) * 0x9e3779b97f4a7c15 | 1;
    worker->share_of = threads;
    worker->scale = scale;
    for (int i = 0; i < 8; ++i) NextRandom(&worker->random);
    if (threads == 1) {
      Work(worker);
    } else {
      Require(pthread_create(&ids[t], nullptr, Work, worker) == 0, "cannot start a thread");
    }
  }
  Tally total;
  Tally sums[kFunctions];
  for (uint64_t t = 0; t < threads; ++t) {
    if (threads > 1) pthread_join(ids[t], nullptr);
    for (unsigned f = 0; f < kFunctions; ++f) {
      for (Tally* sum : {&sums[f], &total}) {
        sum->live_bytes += workers[t].tally[f].live_bytes;
        sum->allocated_bytes += workers[t].tally[f].allocated_bytes;
        sum->live_objects += workers[t].tally[f].live_objects;
        sum->allocated_objects += workers[t].tally[f].allocated_objects;
      }
    }
  }
  for (unsigned f = 0; f < kFunctions; ++f) Print(kPlans[f].name, sums[f]);
  Print("total", total);
  puts("done");
  fflush(stdout);
  if (hold) {
    char byte;
    while (read(0, &byte, 1) > 0) {
    }
  }
  return 0;
}
