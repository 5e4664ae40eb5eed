// Threads that allocate and free blocks of random sizes until they are killed, and keep an exact
// count that survives.
//
//   churn_threads --counts FILE [--threads N] [--seconds T] [--seed S] [--slots K] [--pause US]
//
// FILE is made and mapped shared (see churn_counts.h). Each thread keeps K blocks (2048) of 16 B to
// 64 KiB, about 8 KiB on average, and replaces a random one for ever, or for T seconds;
// with --pause it sleeps so many microseconds after every 64. "ready"
// is printed once every thread has filled its slots, "done" and the sums after T seconds: "done
// LIVE_BYTES ALLOCATED_BYTES LIVE_OBJECTS ALLOCATED_OBJECTS". Blocks are not freed at the end.
// All of them come from the functions ChurnSmall and ChurnLarge (from 4 KiB on).

#include "tests/targets/churn_counts.h"

#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

#include <atomic>

#include "tests/targets/support.h"

namespace {

constexpr size_t kMaxBlock = 65536;
constexpr uint32_t kMaxThreads = 1024;

struct Settings {
  uint32_t threads = 8;
  uint64_t seed = 1;
  uint64_t slots = 2048;
  long pause_us = 0;
  const char* path = nullptr;
  double seconds = 0;  // for ever
};
Settings settings;
CountsHeader* header;
ThreadCounts* counts;
std::atomic<bool> stop{false};

void Set(uint64_t* word, uint64_t value) {
  std::atomic_ref<uint64_t>(*word).store(value, std::memory_order_relaxed);
}

void* Map(size_t bytes, int flags, int fd) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  Require(p != MAP_FAILED, "mmap failed");
  return p;
}

}  // namespace

HG_NOINLINE void* ChurnSmall(size_t size) {
  void* p = malloc(size);
  Escape(p);
  return p;
}
HG_NOINLINE void* ChurnLarge(size_t size) {
  void* p = malloc(size);
  Escape(p);
  return p;
}

namespace {

struct Block {
  void* p;
  size_t size;
};

void Replace(Block* block, uint64_t* random, ThreadCounts* mine) {
  if (block->p != nullptr) {
    Set(&mine->live_bytes, mine->live_bytes - block->size);
    Set(&mine->live_objects, mine->live_objects - 1);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    free(block->p);
  }
  block->size = 15 + RandomSize(random, kMaxBlock - 15);
  block->p = block->size < 4096 ? ChurnSmall(block->size) : ChurnLarge(block->size);
  Require(block->p != nullptr, "out of memory");
  std::atomic_signal_fence(std::memory_order_seq_cst);
  // In this order, whenever it is killed: what is not live was allocated and is freed, or about to
  // be.
  Set(&mine->allocated_bytes, mine->allocated_bytes + block->size);
  Set(&mine->allocated_objects, mine->allocated_objects + 1);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  Set(&mine->live_bytes, mine->live_bytes + block->size);
  Set(&mine->live_objects, mine->live_objects + 1);
}

void SleepUs(long us) {
  const timespec pause = {us / 1000000, us % 1000000 * 1000};
  nanosleep(&pause, nullptr);
}

void* Churn(void* argument) {
  const auto index = reinterpret_cast<uintptr_t>(argument);
  ThreadCounts* mine = &counts[index];
  uint64_t random = (settings.seed * kMaxThreads + index) * 0x9e3779b97f4a7c15 | 1;
  auto* blocks =
      static_cast<Block*>(Map(settings.slots * sizeof(Block), MAP_PRIVATE | MAP_ANONYMOUS, -1));
  for (uint64_t i = 0; i < settings.slots; ++i) Replace(&blocks[i], &random, mine);
  std::atomic_ref<uint32_t>(header->running).fetch_add(1);
  while (!stop.load(std::memory_order_relaxed)) {
    for (int i = 0; i < 64; ++i) {
      Replace(&blocks[NextRandom(&random) % settings.slots], &random, mine);
    }
    if (settings.pause_us > 0) SleepUs(settings.pause_us);
  }
  return nullptr;
}

bool ParseArguments(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const char* value = argv[i + 1];
    if (strcmp(argv[i], "--counts") == 0) {
      settings.path = value;
    } else if (strcmp(argv[i], "--threads") == 0) {
      settings.threads = static_cast<uint32_t>(strtoul(value, nullptr, 10));
    } else if (strcmp(argv[i], "--seconds") == 0) {
      settings.seconds = strtod(value, nullptr);
    } else if (strcmp(argv[i], "--seed") == 0) {
      settings.seed = strtoull(value, nullptr, 10);
    } else if (strcmp(argv[i], "--slots") == 0) {
      settings.slots = strtoull(value, nullptr, 10);
    } else if (strcmp(argv[i], "--pause") == 0) {
      settings.pause_us = strtol(value, nullptr, 10);
    } else {
      return false;
    }
  }
  return argc % 2 == 1 && settings.path != nullptr && settings.threads >= 1 &&
         settings.threads <= kMaxThreads && settings.slots >= 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (!ParseArguments(argc, argv)) {
    fprintf(stderr,
            "usage: churn_threads --counts FILE [--threads N] [--seconds T] "
            "[--seed S] [--slots K] [--pause US]\n");
    return 2;
  }
  const size_t bytes = sizeof(CountsHeader) + settings.threads * sizeof(ThreadCounts);
  const int fd = open(settings.path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  Require(fd >= 0 && ftruncate(fd, static_cast<off_t>(bytes)) == 0, "cannot make the counts file");
  header = static_cast<CountsHeader*>(Map(bytes, MAP_SHARED, fd));
  counts = reinterpret_cast<ThreadCounts*>(header + 1);
  close(fd);
  memcpy(header->magic, "HGCOUNT1", 8);
  header->threads = settings.threads;
  header->max_block = kMaxBlock;

  static pthread_t ids[kMaxThreads];
  for (uintptr_t t = 0; t < settings.threads; ++t) {
    Require(pthread_create(&ids[t], nullptr, Churn, reinterpret_cast<void*>(t)) == 0,
            "cannot start a thread");
  }
  while (std::atomic_ref<uint32_t>(header->running).load() < settings.threads) SleepUs(1000);
  Require(write(1, "ready\n", 6) == 6, "cannot write");
  if (settings.seconds <= 0) {
    for (;;) SleepUs(1000000);
  }
  SleepUs(static_cast<long>(settings.seconds * 1e6));
  stop = true;
  ThreadCounts sum = {};
  for (uint32_t t = 0; t < settings.threads; ++t) {
    pthread_join(ids[t], nullptr);
    sum.live_bytes += counts[t].live_bytes;
    sum.live_objects += counts[t].live_objects;
    sum.allocated_bytes += counts[t].allocated_bytes;
    sum.allocated_objects += counts[t].allocated_objects;
  }
  printf("done %lu %lu %lu %lu\n", sum.live_bytes, sum.allocated_bytes, sum.live_objects,
         sum.allocated_objects);
  return 0;
}
