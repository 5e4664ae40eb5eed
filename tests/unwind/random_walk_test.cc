// Random walks through the tree: at every probe the Walker, a plain walk with freshly evaluated
// rules and libgcc have to see the same stack, frame by frame (pc, sp, fp, and whether the pc is
// exact). Another Walker, which is asked as a trace does it, has to know it by the same hash.
//
// libgcc's stack may have one frame more at the outer end: it also reports what lies behind a frame
// that has no caller. Where our walk ends early, libgcc's must begin with the same frames.
// HEAPGAUGE_UNWIND_WALKS sets the number of walks.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <vector>

#include "agent/unwind/plain_walk.h"
#include "agent/unwind/step.h"
#include "agent/unwind/walker.h"
#include "tests/unwind/reference_unwind.h"
#include "tests/unwind/tree.h"

namespace heapgauge::unwind_test {
namespace {

using namespace heapgauge::agent;

constexpr uint32_t kCapacity = Walker::kMaxFrames;

// What one thread walks with, and what it found.
struct Session {
  Walker* walker;
  Walker* recalling_walker;
  PathMemo* paths;
  StackMemory plain_memory;
  volatile sig_atomic_t busy;
  bool timer_probe;

  std::vector<PlainFrame> plain, cached_rules, libgcc, previous;
  uint32_t previous_count;

  uint64_t walks, frames, unchanged, complete, incomplete;
  uint64_t timer_walks, timer_skipped, timer_incomplete;
  uint64_t recalled, recalled_wrong;
  uint64_t cached_differs, rules_differ, hash_differs, unchanged_wrong, libgcc_differs;
};

bool Same(const PlainFrame& a, const PlainFrame& b) {
  return a.pc == b.pc && a.sp == b.sp && a.fp == b.fp && a.exact == b.exact;
}

bool SameAsPlain(const Stack& stack, const std::vector<PlainFrame>& plain, const PlainWalk& walk) {
  if (stack.count != walk.count || stack.complete != walk.complete()) return false;
  for (uint32_t i = 0; i < walk.count; ++i) {
    const WalkedFrame& frame = stack.frames[stack.count - 1 - i];
    const bool exact = (frame.flags & kFrameExactPc) != 0;
    // The frame pointer is kept only where a step further out needs it.
    const uintptr_t fp = (frame.flags & kFrameUsesFp) != 0 ? frame.fp : plain[i].fp;
    if (!Same({frame.pc, frame.sp, fp, exact}, plain[i])) return false;
  }
  return true;
}

bool HashIsRight(const Stack& stack) {
  uint64_t hash = stack.complete ? kWholeStackSeed : kCutStackSeed;
  for (uint32_t i = 0; i < stack.count; ++i) {
    hash = MixFrame(hash, stack.frames[i].pc, (stack.frames[i].flags & kFrameExactPc) != 0);
    if (hash != stack.frames[i].hash) return false;
  }
  return hash == stack.hash;
}

bool UnchangedIsRight(const Stack& stack, const Session& session) {
  if (stack.unchanged > stack.count || stack.unchanged > session.previous_count) return false;
  for (uint32_t i = 0; i < stack.unchanged; ++i) {
    if (stack.frames[i].pc != session.previous[i].pc) return false;
  }
  return true;
}

void Report(const char* what, const Session& session, const Stack& stack, const PlainWalk& walk,
            uint32_t libgcc_count) {
  fprintf(stderr, "%s: walker %u, plain %u (end %d), libgcc %u frames\n", what, stack.count,
          walk.count, static_cast<int>(walk.end), libgcc_count);
  for (uint32_t i = 0; i < walk.count || i < stack.count || i < libgcc_count; ++i) {
    const PlainFrame p = i < walk.count ? session.plain[i] : PlainFrame{};
    const PlainFrame g = i < libgcc_count ? session.libgcc[i] : PlainFrame{};
    const WalkedFrame f = i < stack.count ? stack.frames[stack.count - 1 - i] : WalkedFrame{};
    fprintf(stderr, "  %2u w %lx/%lx/%lx  p %lx/%lx/%lx%s  g %lx/%lx/%lx%s\n", i, f.pc, f.sp, f.fp,
            p.pc, p.sp, p.fp, p.exact ? "!" : "", g.pc, g.sp, g.fp, g.exact ? "!" : "");
  }
}

void CompareWithLibgcc(const Registers& registers, const Stack& stack, const PlainWalk& walk,
                       Session* session) {
  const uint32_t count = WalkWithLibgcc(registers, session->libgcc.data(), kCapacity);
  bool same =
      walk.complete() ? count == walk.count || count == walk.count + 1 : count >= walk.count;
  for (uint32_t i = 0; same && i < walk.count; ++i) {
    same = Same(session->plain[i], session->libgcc[i]);
  }
  if (!same && session->libgcc_differs++ < 3) Report("libgcc", *session, stack, walk, count);
}

uint64_t RecallOrWalk(Session* session, const Registers& registers) {
  if (const Path* path = session->recalling_walker->Recall(registers, session->paths)) {
    ++session->recalled;
    return path->hash;
  }
  const Stack stack = session->recalling_walker->Walk(registers);
  session->recalling_walker->Keep(registers, stack, session->paths);
  return stack.hash;
}

void Probe(Session* session, const Registers& registers) {
  const Stack stack = session->walker->Walk(registers);
  if (RecallOrWalk(session, registers) != stack.hash) ++session->recalled_wrong;
  const PlainWalk walk = WalkPlain(registers, RuleSource::kEvaluate, &session->plain_memory,
                                   session->plain.data(), kCapacity);
  ++session->walks;
  session->frames += stack.count;
  session->unchanged += stack.unchanged;
  ++(stack.complete ? session->complete : session->incomplete);
  if (!SameAsPlain(stack, session->plain, walk) && session->cached_differs++ < 3) {
    Report("remembered", *session, stack, walk, 0);
  }
  const PlainWalk by_cache = WalkPlain(registers, RuleSource::kCache, &session->plain_memory,
                                       session->cached_rules.data(), kCapacity);
  bool rules_agree = by_cache.count == walk.count && by_cache.end == walk.end;
  for (uint32_t i = 0; rules_agree && i < walk.count; ++i) {
    rules_agree = Same(session->plain[i], session->cached_rules[i]);
  }
  if (!rules_agree) ++session->rules_differ;
  if (!HashIsRight(stack)) ++session->hash_differs;
  if (!UnchangedIsRight(stack, *session)) ++session->unchanged_wrong;
  session->previous_count = stack.count;
  for (uint32_t i = 0; i < stack.count; ++i) session->previous[i].pc = stack.frames[i].pc;
  if (session->timer_probe) {
    ++session->timer_walks;
    if (!stack.complete) ++session->timer_incomplete;
  }
  // Interrupted in the epilogue of a realigned frame, libgcc follows a register that is gone
  // already and crashes. Ours ends there; so libgcc is asked only where the way is known to be
  // good.
  if (!session->timer_probe || walk.complete()) {
    CompareWithLibgcc(registers, stack, walk, session);
  }
}

thread_local Tree* timer_tree;

void HandleTimer(int) {
  Tree* tree = timer_tree;
  if (tree == nullptr) return;
  auto* session = static_cast<Session*>(tree->owner);
  if (session->busy) {
    ++session->timer_skipped;
    return;
  }
  ++tree->counts[kTimerSignal];
  session->timer_probe = true;
  hg_probe(tree);
  session->timer_probe = false;
}

}  // namespace

extern "C" void hg_probe_taken(void* context, uintptr_t pc, uintptr_t sp, uintptr_t fp) {
  auto* tree = static_cast<Tree*>(context);
  auto* session = static_cast<Session*>(tree->owner);
  if (session->busy) return;  // a timer came between two probes of the same thread
  session->busy = 1;
  --tree->budget;
  Probe(session, {pc, sp, fp});
  session->busy = 0;
}

namespace {

struct TreeRun {
  Tree tree;
  Session session;
  uint64_t walks_wanted;
  std::vector<TreeFunction> functions;
};

void FillFunctions(std::vector<TreeFunction>* functions) {
  const FunctionTable tables[] = {
    TreeFunctionsGccO2(),
    TreeFunctionsGccO3(),
    TreeFunctionsGccFramePointer(),
#if defined(HG_TREE_WITH_CLANG)
    TreeFunctionsClangO2(),
    TreeFunctionsClangO3(),
#endif
    TreeCalls()
  };
  for (const FunctionTable& table : tables) {
    functions->insert(functions->end(), table.functions, table.functions + table.count);
  }
  const FunctionTable calls = TreeCalls();
  for (int i = 0; i < 4; ++i) {  // more of them: they are few among many
    functions->insert(functions->end(), calls.functions, calls.functions + calls.count);
  }
}

timer_t StartTimer() {
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGALRM;
  event._sigev_un._tid = static_cast<int>(syscall(SYS_gettid));
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) abort();
  itimerspec interval = {};
  interval.it_value.tv_nsec = interval.it_interval.tv_nsec = 97'000;
  timer_settime(timer, 0, &interval, nullptr);
  return timer;
}

void* RunTree(void* argument) {
  auto* run = static_cast<TreeRun*>(argument);
  Session& session = run->session;
  for (auto* frames : {&session.plain, &session.cached_rules, &session.libgcc, &session.previous}) {
    frames->resize(kCapacity);
  }
  const auto map = [](size_t bytes) {
    return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  };
  session.walker = static_cast<Walker*>(map(sizeof(Walker)));
  session.recalling_walker = static_cast<Walker*>(map(sizeof(Walker)));
  session.paths = static_cast<PathMemo*>(map(sizeof(PathMemo)));
  FillFunctions(&run->functions);
  Tree& tree = run->tree;
  tree.functions = run->functions.data();
  tree.function_count = static_cast<uint32_t>(run->functions.size());
  tree.owner = &session;
  InstallAlternateStack();
  timer_tree = &tree;
  const timer_t timer = StartTimer();
  while (session.walks < run->walks_wanted) {
    tree.budget = 100 + tree.Next(600);
    Descend(&tree, 4 + static_cast<int>(tree.Next(28)));
  }
  timer_delete(timer);
  timer_tree = nullptr;
  return nullptr;
}

void PrintRun(const char* name, const TreeRun& run) {
  const Session& s = run.session;
  printf("%s: walks %lu, frames per walk %.1f, unchanged %.1f %%, incomplete %lu\n", name, s.walks,
         static_cast<double>(s.frames) / static_cast<double>(s.walks),
         100.0 * static_cast<double>(s.unchanged) / static_cast<double>(s.frames), s.incomplete);
  printf(
      "  remembered != plain %lu, cached rules != evaluated %lu, hash wrong %lu, unchanged wrong "
      "%lu, plain != libgcc %lu\n",
      s.cached_differs, s.rules_differ, s.hash_differs, s.unchanged_wrong, s.libgcc_differs);
  printf("  recalled %lu, wrong %lu\n", s.recalled, s.recalled_wrong);
  printf("  timer walks %lu (incomplete %lu, skipped %lu)\n", s.timer_walks, s.timer_incomplete,
         s.timer_skipped);
  const char* names[kKinds] = {"plain",
                               "large",
                               "alloca",
                               "realigned",
                               "realigned+alloca",
                               "busy rbp",
                               "huge",
                               "compensated",
                               "plt",
                               "qsort",
                               "exception",
                               "longjmp",
                               "coroutine",
                               "signal",
                               "signal on altstack",
                               "longjmp out of signal",
                               "timer"};
  printf(" ");
  for (int kind = 0; kind < kKinds; ++kind) printf(" %s %lu;", names[kind], run.tree.counts[kind]);
  printf("\n");
}

void Check(const TreeRun& run) {
  const Session& session = run.session;
  EXPECT_EQ(session.cached_differs, 0u);
  EXPECT_EQ(session.rules_differ, 0u);
  EXPECT_EQ(session.hash_differs, 0u);
  EXPECT_EQ(session.unchanged_wrong, 0u);
  EXPECT_EQ(session.libgcc_differs, 0u);
  EXPECT_EQ(session.recalled_wrong, 0u);
  EXPECT_GT(session.recalled, session.walks / 20) << "hardly a path was known";
  EXPECT_GT(session.complete, session.walks * 95 / 100);
  EXPECT_GT(session.unchanged, session.frames / 2) << "the Walker hardly ever met its old stack";
  if (session.walks < 500'000) return;  // asked for fewer: rare kinds may be missing
  for (int kind = 0; kind < kKinds; ++kind) {
    EXPECT_GT(run.tree.counts[kind], 10u) << "kind " << kind;
  }
}

TEST(RandomWalk, RememberedPlainAndLibgccStacksAreTheSame) {
  uint64_t walks = 1'200'000;
  if (const char* wanted = getenv("HEAPGAUGE_UNWIND_WALKS")) walks = strtoull(wanted, nullptr, 10);
  InstallSignalHandlers();
  struct sigaction action = {};
  action.sa_handler = HandleTimer;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);

  static TreeRun on_main{}, on_thread{};
  on_main.tree.random = 0x1234567;
  on_thread.tree.random = 0x7654321;
  on_main.walks_wanted = on_thread.walks_wanted = walks / 2;
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, nullptr, RunTree, &on_thread), 0);
  RunTree(&on_main);
  pthread_join(thread, nullptr);
  PrintRun("main thread", on_main);
  PrintRun("other thread", on_thread);
  Check(on_main);
  Check(on_thread);
}

}  // namespace
}  // namespace heapgauge::unwind_test
