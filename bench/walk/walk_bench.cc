// What one stack walk costs: the Walker, a plain walk with cached rules, libunwind and libgcc, on
// stacks of 25 and 60 frames without frame pointers.
//
// "same" walks one stack again and again. "6 changed" picks one of 256 stacks at random for each
// walk; they differ in the innermost 6 frames. The cost of the calls that build the stack is
// measured with a probe that does nothing, and subtracted. CPU time; all methods take turns;
// medians over the rounds.
//
//   walk_bench [--rounds N] [--json FILE]
#include <dlfcn.h>
#include <sys/mman.h>
#include <time.h>
#include <unwind.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "agent/unwind/plain_walk.h"
#include "agent/unwind/walker.h"

using Target = void (*)(uintptr_t pc, uintptr_t sp, uintptr_t fp);
extern "C" {
Target hg_bench_target;
void hg_bench_probe();
}

namespace heapgauge::agent {
namespace {

constexpr int kChanged = 6;
constexpr int kStacks = 256;
constexpr int kBatch = 2048;
constexpr int kFunctions = 64;

// CPU time of this thread: other programs on the machine do not count.
uint64_t Now() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

// ---- Probes.

Walker* walker;
StackMemory plain_memory;
PlainFrame plain_frames[512];
void* addresses[512];
uint32_t frames_seen;
uint64_t sink;

void DoNothing(uintptr_t pc, uintptr_t sp, uintptr_t fp) { sink += pc ^ sp ^ fp; }

void WalkRemembered(uintptr_t pc, uintptr_t sp, uintptr_t fp) {
  const Stack stack = walker->Walk({pc, sp, fp});
  frames_seen = stack.count;
  sink += stack.hash;
}

void WalkByRules(uintptr_t pc, uintptr_t sp, uintptr_t fp) {
  frames_seen = WalkPlain({pc, sp, fp}, RuleSource::kCache, &plain_memory, plain_frames, 512).count;
}

using UnwBacktrace = int (*)(void**, int);
UnwBacktrace unw_backtrace_function;

void WalkLibunwind(uintptr_t, uintptr_t, uintptr_t) {
  frames_seen = static_cast<uint32_t>(unw_backtrace_function(addresses, 512));
}

_Unwind_Reason_Code CountFrame(_Unwind_Context* context, void*) {
  addresses[frames_seen++ % 512] = reinterpret_cast<void*>(_Unwind_GetIP(context));
  return _URC_NO_REASON;
}

void WalkLibgcc(uintptr_t, uintptr_t, uintptr_t) {
  frames_seen = 0;
  _Unwind_Backtrace(CountFrame, nullptr);
}

// ---- Stacks: a path is a list of functions that call one another.

struct Path {
  uint8_t functions[64];
};
using Function = uint64_t (*)(const uint8_t* path, int left);
extern const Function kTable[kFunctions];

template <int kSalt>
[[gnu::noinline]] uint64_t Level(const uint8_t* path, int left) {
  char block[16 + kSalt % 9 * 24];
  __asm__ volatile("" : : "r"(block) : "memory");
  uint64_t result = kSalt;
  if (left == 0) {
    hg_bench_probe();
  } else {
    result += kTable[*path](path + 1, left - 1);
  }
  __asm__ volatile("" : : "r"(block) : "memory");
  return result * 31 + static_cast<uint64_t>(left);
}

#define HG_LEVELS(n)                                                                    \
  &Level<n>, &Level<n + 1>, &Level<n + 2>, &Level<n + 3>, &Level<n + 4>, &Level<n + 5>, \
      &Level<n + 6>, &Level<n + 7>
const Function kTable[kFunctions] = {HG_LEVELS(0),  HG_LEVELS(8),  HG_LEVELS(16), HG_LEVELS(24),
                                     HG_LEVELS(32), HG_LEVELS(40), HG_LEVELS(48), HG_LEVELS(56)};

// What the innermost frames of the fixed part do for one measurement.
struct Batch {
  const Path* paths;  // kStacks, or null: probe from here
  uint64_t seed;
  uint64_t nanoseconds;
};
Batch batch;

[[gnu::noinline]] uint64_t RunBatch() {
  uint64_t random = batch.seed;
  const uint64_t start = Now();
  if (batch.paths == nullptr) {
    for (int i = 0; i < kBatch; ++i) hg_bench_probe();
  } else {
    for (int i = 0; i < kBatch; ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      // RunBatch itself stays, the path adds kChanged frames.
      const uint8_t* path = batch.paths[random >> 56].functions;
      sink += kTable[path[0]](path + 1, kChanged - 1);
    }
  }
  batch.nanoseconds = Now() - start;
  return random;
}

// Adds `left` frames, then runs the batch.
template <int kSalt>
[[gnu::noinline]] uint64_t Base(int left) {
  char block[16 + kSalt * 40];
  __asm__ volatile("" : : "r"(block) : "memory");
  const uint64_t result = left == 0 ? RunBatch() : Base<(kSalt + 1) % 5>(left - 1);
  __asm__ volatile("" : : "r"(block) : "memory");
  return result + 1;
}

struct Method {
  const char* name;
  Target target;
};

struct Case {
  const char* name;
  int frames;
  bool changed;
};

double MeasureOnce(const Case& what, const Method& method, int depth, const Path* paths,
                   int round) {
  hg_bench_target = method.target;
  batch.paths = what.changed ? paths : nullptr;
  batch.seed = static_cast<uint64_t>(round) * 977 + 13;
  batch.nanoseconds = 0;
  sink += Base<0>(depth);
  return static_cast<double>(batch.nanoseconds) / kBatch;
}

// What a code address costs when it is met for the first time: ns to evaluate its rule, over the
// frames of the last plain walk.
double EvaluateOnce() {
  constexpr int kTimes = 64;
  const uint64_t start = Now();
  for (int i = 0; i < kTimes; ++i) {
    for (uint32_t frame = 0; frame < frames_seen; ++frame) {
      sink += static_cast<uint64_t>(EvaluateRule(plain_frames[frame].pc, false).cfa_offset);
    }
  }
  return static_cast<double>(Now() - start) / kTimes / frames_seen;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// How many Base frames make the wanted total.
int FindDepth(const Case& what, const Path* paths) {
  const Method method{"", WalkRemembered};
  MeasureOnce(what, method, 0, paths, 0);
  const int without = static_cast<int>(frames_seen);
  return what.frames - without;
}

int Main(int argc, char** argv) {
  int rounds = 41;
  const char* json = nullptr;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
      rounds = atoi(argv[++i]);
    } else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
      json = argv[++i];
    } else {
      fprintf(stderr, "usage: walk_bench [--rounds N] [--json FILE]\n");
      return 2;
    }
  }
  if (rounds < 1) rounds = 1;
  walker = static_cast<Walker*>(
      mmap(nullptr, sizeof(Walker), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::vector<Path> paths(kStacks);
  srand(7);
  for (Path& path : paths) {
    for (uint8_t& function : path.functions) function = static_cast<uint8_t>(rand() % kFunctions);
  }
  std::vector<Method> methods = {{"nothing", DoNothing},
                                 {"heapgauge, remembered stack", WalkRemembered},
                                 {"heapgauge, plain rule walk", WalkByRules},
                                 {"libgcc _Unwind_Backtrace", WalkLibgcc}};
  // By dlopen: linked in, its _Unwind_Backtrace would take the place of libgcc's.
  if (void* library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL)) {
    unw_backtrace_function = reinterpret_cast<UnwBacktrace>(dlsym(library, "unw_backtrace"));
  }
  if (unw_backtrace_function != nullptr) {
    methods.push_back({"libunwind unw_backtrace", WalkLibunwind});
  } else {
    fprintf(stderr, "walk_bench: no libunwind.so.8 here, left out\n");
  }
  const Case cases[] = {{"25 frames, same", 25, false},
                        {"25 frames, 6 changed", 25, true},
                        {"60 frames, same", 60, false},
                        {"60 frames, 6 changed", 60, true}};
  constexpr size_t kCases = sizeof cases / sizeof cases[0];

  std::vector<std::vector<double>> results(methods.size() * kCases);
  for (size_t c = 0; c < kCases; ++c) {
    const int depth = FindDepth(cases[c], paths.data());
    for (int round = -1; round < rounds; ++round) {  // the first one warms up
      double nothing = 0;
      for (size_t m = 0; m < methods.size(); ++m) {
        const double ns = MeasureOnce(cases[c], methods[m], depth, paths.data(), round);
        if (m == 0) nothing = ns;
        if (round >= 0) results[c * methods.size() + m].push_back(m == 0 ? ns : ns - nothing);
      }
    }
    MeasureOnce(cases[c], methods[1], depth, paths.data(), 0);
    if (static_cast<int>(frames_seen) != cases[c].frames) {
      fprintf(stderr, "walk_bench: %u frames instead of %d\n", frames_seen, cases[c].frames);
      return 1;
    }
  }

  MeasureOnce(cases[kCases - 1], methods[2], 50, paths.data(), 0);  // fills plain_frames
  std::vector<double> evaluations;
  for (int round = 0; round < rounds; ++round) evaluations.push_back(EvaluateOnce());
  const double evaluation = Median(evaluations);

  printf("%-30s", "ns per walk");
  for (const Case& what : cases) printf("  %22s", what.name);
  printf("\n");
  std::string out = "{\"unit\": \"ns per walk\", \"rounds\": " + std::to_string(rounds);
  for (size_t m = 0; m < methods.size(); ++m) {
    printf("%-30s", m == 0 ? "(calls alone, subtracted)" : methods[m].name);
    out += std::string(",\n \"") + methods[m].name + "\": {";
    for (size_t c = 0; c < kCases; ++c) {
      const double median = Median(results[c * methods.size() + m]);
      printf("  %22.1f", median);
      char text[96];
      snprintf(text, sizeof text, "%s\"%s\": %.2f", c == 0 ? "" : ", ", cases[c].name, median);
      out += text;
    }
    printf("\n");
    out += "}";
  }
  printf("%-30s  %22.1f\n", "one rule from .eh_frame", evaluation);
  out += ",\n \"one rule from .eh_frame\": " + std::to_string(evaluation) + "}\n";
  if (json != nullptr) {
    FILE* file = fopen(json, "w");
    if (file == nullptr || fputs(out.c_str(), file) < 0 || fclose(file) != 0) {
      fprintf(stderr, "walk_bench: cannot write %s\n", json);
      return 2;
    }
  }
  return 0;
}

}  // namespace
}  // namespace heapgauge::agent

int main(int argc, char** argv) { return heapgauge::agent::Main(argc, argv); }
