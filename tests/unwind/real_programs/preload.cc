// Preloaded into real programs: at every Nth malloc the Walker's stack is compared, frame by frame,
// with a plain walk, and at every Mth with libunwind's; where those two differ, libgcc is asked as
// well.
//
// Counters go to the file that HG_REPORT names (with the process id behind it), mapped, so that
// they survive whatever end the program takes. libunwind and libgcc are loaded privately: they must
// not take part in the program's own exceptions.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include <cstdint>

#include "agent/unwind/plain_walk.h"
#include "agent/unwind/walker.h"
#include "tests/unwind/real_programs/report.h"

extern "C" {
__attribute__((visibility("hidden"))) int hg_countdown = 1 << 30;
__attribute__((visibility("hidden"))) void hg_malloc_sampled(uintptr_t pc, uintptr_t sp,
                                                             uintptr_t fp);
}

namespace heapgauge::agent {
namespace {

constexpr uint32_t kReference = 13;  // walks to a comparison with libunwind
constexpr uint32_t kCapacity = Walker::kMaxFrames;

struct ThreadState {
  Walker walker;
  StackMemory memory;
  uint32_t walks;
  PlainFrame plain[kCapacity], libunwind[kCapacity], libgcc[kCapacity];
};

__attribute__((tls_model("initial-exec"))) thread_local ThreadState* thread_state;
__attribute__((tls_model("initial-exec"))) thread_local bool busy;

Report* report;
int every = 7;  // mallocs to a walk

// libunwind and libgcc, by hand.
decltype(&unw_init_local) init_local;
decltype(&unw_step) step;
decltype(&unw_get_reg) get_reg;
int (*get_context)(unw_context_t*);
decltype(&_Unwind_Backtrace) libgcc_backtrace;
decltype(&_Unwind_GetIP) libgcc_ip;
decltype(&_Unwind_GetCFA) libgcc_cfa;

template <typename Function>
void Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
}

[[gnu::noinline]] uint32_t WalkLibunwind(const Registers& start, PlainFrame* frames) {
  unw_context_t context;
  unw_cursor_t cursor;
  if (get_context(&context) != 0 || init_local(&cursor, &context) != 0) return 0;
  uint32_t count = 0;
  do {
    unw_word_t pc = 0, sp = 0, fp = 0;
    get_reg(&cursor, UNW_REG_IP, &pc);
    get_reg(&cursor, UNW_REG_SP, &sp);
    get_reg(&cursor, UNW_X86_64_RBP, &fp);
    if (count == 0 && (pc != start.pc || sp != start.sp)) continue;  // our own frames
    frames[count++] = {pc, sp, fp, false};
  } while (count < kCapacity && step(&cursor) > 0);
  return count;
}

struct Collector {
  Registers start;
  PlainFrame* frames;
  uint32_t count;
};

_Unwind_Reason_Code Collect(_Unwind_Context* context, void* argument) {
  auto* collector = static_cast<Collector*>(argument);
  const uintptr_t pc = libgcc_ip(context);
  const uintptr_t sp = libgcc_cfa(context);
  if (collector->count == 0 && (pc != collector->start.pc || sp != collector->start.sp)) {
    return _URC_NO_REASON;
  }
  if (collector->count == kCapacity) return _URC_END_OF_STACK;
  collector->frames[collector->count++] = {pc, sp, 0, false};
  return _URC_NO_REASON;
}

uint32_t WalkLibgcc(const Registers& start, PlainFrame* frames) {
  Collector collector{start, frames, 0};
  libgcc_backtrace(Collect, &collector);
  return collector.count;
}

// How many frames of `ours` the other walk has at the same place, in pc and sp.
uint32_t Agreeing(const PlainFrame* ours, uint32_t count, const PlainFrame* theirs,
                  uint32_t their_count) {
  uint32_t same = 0;
  for (uint32_t i = 0; i < count && i < their_count; ++i) {
    same += ours[i].pc == theirs[i].pc && ours[i].sp == theirs[i].sp;
  }
  return same;
}

void Note(const char* what, const PlainFrame* frames, uint32_t count, uint32_t at) {
  if (report->notes >= kNotes) return;
  char* note = report->note[report->notes++];
  if (at >= count) at = count - 1;
  Dl_info info = {};
  dladdr(reinterpret_cast<void*>(frames[at].pc), &info);
  snprintf(note, sizeof report->note[0], "%s at frame %u of %u: %s+0x%lx (%s)", what, at, count,
           info.dli_fname != nullptr ? info.dli_fname : "?",
           frames[at].pc - reinterpret_cast<uintptr_t>(info.dli_fbase),
           info.dli_sname != nullptr ? info.dli_sname : "?");
}

void CompareWithLibunwind(const Registers& registers, uint32_t count, bool complete,
                          ThreadState* state) {
  const uint32_t theirs = WalkLibunwind(registers, state->libunwind);
  // One frame more or less at the outermost end is a matter of taste.
  const uint32_t longer = theirs > count ? theirs : count;
  const bool one_off = complete && (theirs == count + 1 || theirs + 1 == count);
  const uint32_t total = one_off ? longer - 1 : longer;
  const uint32_t same = Agreeing(state->plain, count, state->libunwind, theirs);
  ++report->reference_walks;
  report->reference_frames += total;
  report->reference_same += same;
  for (uint32_t i = 0; i < count && i < theirs; ++i) {
    report->fp_same += state->plain[i].fp == state->libunwind[i].fp;
  }
  if (same == total) return;
  ++report->reference_differs;
  const uint32_t libgcc = WalkLibgcc(registers, state->libgcc);
  const uint32_t like_ours = Agreeing(state->plain, count, state->libgcc, libgcc);
  const uint32_t like_theirs = Agreeing(state->libunwind, theirs, state->libgcc, libgcc);
  uint32_t at = 0;
  while (at < count && at < theirs && state->plain[at].pc == state->libunwind[at].pc) ++at;
  if (like_ours == count && libgcc <= count + 1) {
    ++report->libgcc_with_us;
    Note("libgcc sides with us against libunwind", state->plain, count, at == 0 ? 0 : at - 1);
  } else if (like_theirs == theirs) {
    ++report->libgcc_against_us;
    Note("libgcc sides with libunwind", state->plain, count, at == 0 ? 0 : at - 1);
  } else {
    ++report->libgcc_with_neither;
    Note("libgcc sides with neither", state->plain, count, at == 0 ? 0 : at - 1);
  }
}

void Sample(const Registers& registers) {
  if (thread_state == nullptr) {
    void* memory = mmap(nullptr, sizeof(ThreadState), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    thread_state = static_cast<ThreadState*>(memory);
  }
  ThreadState* state = thread_state;
  const Stack stack = state->walker.Walk(registers);
  const PlainWalk plain =
      WalkPlain(registers, RuleSource::kEvaluate, &state->memory, state->plain, kCapacity);
  __atomic_add_fetch(&report->walks, 1, __ATOMIC_RELAXED);
  __atomic_add_fetch(&report->frames, stack.count, __ATOMIC_RELAXED);
  __atomic_add_fetch(&report->unchanged, stack.unchanged, __ATOMIC_RELAXED);
  bool same = stack.count == plain.count && stack.complete == plain.complete();
  for (uint32_t i = 0; same && i < plain.count; ++i) {
    const WalkedFrame& frame = stack.frames[stack.count - 1 - i];
    same = frame.pc == state->plain[i].pc && frame.sp == state->plain[i].sp &&
           ((frame.flags & kFrameUsesFp) == 0 || frame.fp == state->plain[i].fp);
  }
  if (!same) __atomic_add_fetch(&report->remembered_differs, 1, __ATOMIC_RELAXED);
  if (!stack.complete) {
    if (report->incomplete++ < 3) Note("the walk ends", state->plain, plain.count, plain.count);
  }
  if (state->walks++ % kReference == 0) {
    CompareWithLibunwind(registers, plain.count, plain.complete(), state);
  }
}

__attribute__((constructor)) void Start() {
  const char* path = getenv("HG_REPORT");
  if (path == nullptr) return;
  if (const char* text = getenv("HG_EVERY")) every = atoi(text);
  busy = true;
  void* unwind = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
  void* gcc = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
  if (unwind != nullptr && gcc != nullptr) {
    Find(unwind, "_ULx86_64_init_local", &init_local);
    Find(unwind, "_ULx86_64_step", &step);
    Find(unwind, "_ULx86_64_get_reg", &get_reg);
    Find(unwind, "_Ux86_64_getcontext", &get_context);
    Find(gcc, "_Unwind_Backtrace", &libgcc_backtrace);
    Find(gcc, "_Unwind_GetIP", &libgcc_ip);
    Find(gcc, "_Unwind_GetCFA", &libgcc_cfa);
  }
  char name[4096];
  snprintf(name, sizeof name, "%s.%d", path, static_cast<int>(getpid()));
  const int fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd >= 0 && init_local != nullptr && libgcc_backtrace != nullptr &&
      ftruncate(fd, sizeof(Report)) == 0) {
    void* memory = mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory != MAP_FAILED) report = static_cast<Report*>(memory);
  }
  if (fd >= 0) close(fd);
  busy = false;
  if (report != nullptr) __atomic_store_n(&hg_countdown, every, __ATOMIC_RELAXED);
}

}  // namespace
}  // namespace heapgauge::agent

extern "C" void hg_malloc_sampled(uintptr_t pc, uintptr_t sp, uintptr_t fp) {
  using namespace heapgauge::agent;
  __atomic_store_n(&hg_countdown, report != nullptr ? every : 1 << 30, __ATOMIC_RELAXED);
  if (report == nullptr || busy) return;
  busy = true;
  Sample({pc, sp, fp});
  busy = false;
}
