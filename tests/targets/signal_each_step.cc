// A handler that allocates and frees between any two instructions of malloc and free.
//
//   signal_each_step [PAIRS [--autodisarm] [--seccomp]]
//
// The processor itself makes the signal, after every instruction (trap flag). If the program is
// traced the handler goes on until the buffer that it writes to has no room left, or room for one
// free, or for many: so what the interrupted code had looked at is something else when it goes on.
// Otherwise it makes one call. Legal over libsignal_safe_malloc.so alone. Prints how many blocks of
// 3,001 bytes were made, and how many of 2,001 bytes by the handler.
//
// All happens in a thread whose stack lies below that of the handler. With --autodisarm the kernel
// does not know the handler's stack while it runs, with --seccomp it cannot be asked.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <ucontext.h>

#include <atomic>

#include "tests/targets/support.h"
#include "wire/gauge_format.h"

#if !defined(__x86_64__)
int main() {
  printf("skip: only x86-64 has a trap flag\n");
  return kSkipped;
}
#else

namespace {

namespace wire = heapgauge::wire;

constexpr greg_t kTrapFlag = 0x100;
constexpr size_t kMostSegments = 256;
volatile sig_atomic_t stepping;
volatile unsigned long made_by_handler;
uint64_t random_state = 11;

// Segments of the gauge file, if there is one, as the agent has mapped them.
struct Segment {
  uint32_t number;
  char* start;
  uint64_t seen;  // of a buffer: round and position
};
Segment segments[kMostSegments];
size_t segment_count;

void FindSegments() {
  segment_count = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  Require(maps != nullptr, "/proc/self/maps");
  char line[512];
  while (fgets(line, sizeof line, maps) != nullptr && segment_count < kMostSegments) {
    unsigned long start = 0, end = 0, offset = 0;
    if (strstr(line, ".hg\n") == nullptr) continue;
    if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) != 3) continue;
    for (; start < end; start += wire::kSegmentBytes, offset += wire::kSegmentBytes) {
      segments[segment_count++] = {static_cast<uint32_t>(offset / wire::kSegmentBytes),
                                   reinterpret_cast<char*>(start), 0};
      if (segment_count == kMostSegments) break;
    }
  }
  fclose(maps);
}

const uint32_t* Directory() {
  for (size_t i = 0; i < segment_count; ++i) {
    if (segments[i].number == 0) {
      return reinterpret_cast<const uint32_t*>(segments[i].start + wire::kHeaderBytes);
    }
  }
  return nullptr;
}

// Bytes that are left in the buffer that was written to since the last call; -1 if it is not known.
long RoomLeft() {
  const uint32_t* directory = Directory();
  if (directory == nullptr) return -1;
  long room = -1;
  for (size_t i = 0; i < segment_count; ++i) {
    const uint32_t word = directory[segments[i].number];
    if (wire::DirectoryKind(word) != static_cast<uint32_t>(wire::SegmentKind::kTrace)) continue;
    auto* header = reinterpret_cast<wire::TraceBufferHeader*>(segments[i].start);
    const uint32_t round = std::atomic_ref(header->round).load();
    const uint32_t position = std::atomic_ref(header->position).load();
    const uint64_t seen = uint64_t{round} << 32 | position;
    if (seen == segments[i].seen) continue;
    segments[i].seen = seen;
    if (round == std::atomic_ref(header->closed).load()) continue;
    room = static_cast<long>(wire::kSegmentBytes) - static_cast<long>(position);
  }
  return room;
}

// Makes a block, or frees the one that was made before.
void Call() {
  static void* block;
  if (block != nullptr) {
    free(block);
    block = nullptr;
    return;
  }
  block = malloc(2001);
  Require(block != nullptr, "out of memory");
  made_by_handler = made_by_handler + 1;
}

void OnStep(int, siginfo_t*, void* context) {
  if (stepping == 0) {
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
    return;
  }
  constexpr int kMost = 4 * wire::kSegmentBytes / sizeof(wire::TraceAllocation);
  const uint64_t choice = NextRandom(&random_state) % 4;
  RoomLeft();
  for (int i = 0; i < kMost; ++i) {
    Call();
    const long room = RoomLeft();
    if (room < 0) return;
    if (choice == 0 ? room == 0 : choice == 1 ? room == sizeof(wire::TraceFree) : room > 1000)
      return;
  }
}

void StartStepping() {
  stepping = 1;
  __asm__ volatile(
      "lea -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp"
      :
      :
      : "memory", "cc");
}

constexpr size_t kStackBytes = 256 * 1024;
constexpr unsigned kDisarmed = 1U << 31;  // SS_AUTODISARM
int pairs = 5;
bool autodisarm;
char* handler_stack;

void* Run(void*) {
  for (int i = 0; i < 100'000; ++i) {  // until all buffers are there
    void* volatile p = malloc(8);
    free(p);
  }
  FindSegments();
  Require(handler_stack > static_cast<char*>(__builtin_frame_address(0)),
          "the stacks lie otherwise");
  stack_t alternate{};
  alternate.ss_sp = handler_stack;
  alternate.ss_size = kStackBytes;
  alternate.ss_flags = autodisarm ? static_cast<int>(kDisarmed) : 0;
  Require(sigaltstack(&alternate, nullptr) == 0, "sigaltstack");
  StartStepping();
  for (int i = 0; i < pairs; ++i) {
    void* volatile p = malloc(3001);
    Require(p != nullptr, "out of memory");
    free(p);
  }
  stepping = 0;
  return nullptr;
}

// Allows everything; but who knows that.
void InstallFilter() {
  sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program = {1, allow};
  Require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
  Require(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0, "seccomp");
}

}  // namespace

int main(int argc, char** argv) {
  bool seccomp = false;
  if (argc > 1) pairs = atoi(argv[1]);
  for (int i = 2; i < argc; ++i) {
    autodisarm |= strcmp(argv[i], "--autodisarm") == 0;
    seccomp |= strcmp(argv[i], "--seccomp") == 0;
  }
  for (int i = 0; i < 100'000; ++i) {
    void* volatile p = malloc(8);
    free(p);
  }
  // Later mappings lie below earlier ones.
  void* const stack =
      mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Require(stack != MAP_FAILED, "mmap");
  handler_stack = static_cast<char*>(stack);
  struct sigaction action {};
  action.sa_sigaction = OnStep;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  Require(sigaction(SIGTRAP, &action, nullptr) == 0, "sigaction");
  if (seccomp) InstallFilter();
  pthread_t thread;
  Require(pthread_create(&thread, nullptr, Run, nullptr) == 0, "pthread_create");
  Require(pthread_join(thread, nullptr) == 0, "pthread_join");
  const unsigned long made = made_by_handler;
  printf("done %d %lu\n", pairs, made);
  return 0;
}
#endif
