#include "agent/unwind/walker.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <vector>

#include "agent/sys/os.h"
#include "agent/unwind/plain_walk.h"
#include "tests/unwind/probe.h"

extern "C" {
void hg_call_without_rules(void (*function)(void*), void* argument);
void hg_restorer_without_rules();
}

namespace heapgauge::agent {
namespace {

// What one walk found, kept beyond the next one.
struct Snapshot {
  std::vector<WalkedFrame> frames;  // root first
  uint32_t unchanged = 0;
  uint64_t hash = 0;
  bool complete = false;
  std::vector<PlainFrame> plain;  // innermost first
  StepResult end = StepResult::kStepped;
};

struct Prober {
  std::unique_ptr<Walker> walker{new Walker()};
  std::vector<Snapshot> snapshots;
  StackMemory memory;
  ProbeAction action{&Prober::Take, this};

  static void Take(const Registers& registers, void* argument) {
    auto* self = static_cast<Prober*>(argument);
    Snapshot snapshot;
    snapshot.plain.resize(2000);
    const PlainWalk walk =
        WalkPlain(registers, RuleSource::kEvaluate, &self->memory, snapshot.plain.data(), 2000);
    snapshot.plain.resize(walk.count);
    snapshot.end = walk.end;
    const Stack stack = self->walker->Walk(registers);
    snapshot.frames.assign(stack.frames, stack.frames + stack.count);
    snapshot.unchanged = stack.unchanged;
    snapshot.hash = stack.hash;
    snapshot.complete = stack.complete;
    self->snapshots.push_back(std::move(snapshot));
  }
  void Probe() { hg_probe(&action); }
  const Snapshot& last() const { return snapshots.back(); }
};

// The Walker's frames are the innermost of the plain walk's.
void ExpectSameAsPlain(const Snapshot& snapshot) {
  const size_t count = snapshot.frames.size();
  ASSERT_LE(count, snapshot.plain.size());
  for (size_t i = 0; i < count; ++i) {
    const WalkedFrame& frame = snapshot.frames[count - 1 - i];
    ASSERT_EQ(frame.pc, snapshot.plain[i].pc) << i;
    ASSERT_EQ(frame.sp, snapshot.plain[i].sp) << i;
    if ((frame.flags & kFrameUsesFp) != 0) {
      ASSERT_EQ(frame.fp, snapshot.plain[i].fp) << i;
    }
  }
}

TEST(Walker, FindsTheSameStackUnchanged) {
  Prober prober;
  for (int i = 0; i < 3; ++i) {
    HG_KEEP_LOOP(i);
    prober.Probe();
  }
  for (const Snapshot& snapshot : prober.snapshots) {
    ExpectSameAsPlain(snapshot);
    EXPECT_TRUE(snapshot.complete);
    EXPECT_GT(snapshot.frames.size(), 5u);
    EXPECT_EQ(snapshot.hash, prober.snapshots[0].hash);
    EXPECT_EQ(snapshot.hash, snapshot.frames.back().hash);
  }
  EXPECT_EQ(prober.snapshots[0].unchanged, 0u);
  EXPECT_EQ(prober.snapshots[1].unchanged, prober.snapshots[1].frames.size());
}

[[gnu::noinline]] void ProbeOnce(Prober* prober) {
  prober->Probe();
  __asm__ volatile("");
}

TEST(Walker, DifferentCallersHaveDifferentHashesAndShareTheirRoot) {
  Prober prober;
  ProbeOnce(&prober);
  ProbeOnce(&prober);
  const Snapshot& first = prober.snapshots[0];
  const Snapshot& second = prober.snapshots[1];
  ASSERT_EQ(first.frames.size(), second.frames.size());
  EXPECT_NE(first.hash, second.hash);
  EXPECT_NE(first.frames[first.frames.size() - 2].pc, second.frames[first.frames.size() - 2].pc);
  EXPECT_EQ(second.unchanged, second.frames.size() - 2);
}

TEST(Walker, ForgettingAndInvalidatingStartAfresh) {
  Prober prober;
  const auto unchanged = [&prober] {
    ProbeOnce(&prober);
    return prober.last().unchanged;
  };
  for (int i = 0; i < 2; ++i) unchanged();
  EXPECT_GT(unchanged(), 0u);
  prober.walker->Forget();
  EXPECT_EQ(unchanged(), 0u);
  EXPECT_GT(unchanged(), 0u);
  InvalidateUnwindRules();
  EXPECT_EQ(unchanged(), 0u);
  for (const Snapshot& snapshot : prober.snapshots) {
    ExpectSameAsPlain(snapshot);
    EXPECT_TRUE(snapshot.complete);
  }
}

[[gnu::noinline]] int Recurse(Prober* prober, int depth, int probe_below) {
  int sum = depth;
  if (depth > 0) sum += Recurse(prober, depth - 1, probe_below);
  if (depth < probe_below) prober->Probe();
  return sum + 1;
}

TEST(Walker, KeepsTheInnermostFramesOfADeepStack) {
  Prober prober;
  Recurse(&prober, 700, 3);
  ASSERT_EQ(prober.snapshots.size(), 3u);
  for (const Snapshot& snapshot : prober.snapshots) {
    EXPECT_EQ(snapshot.frames.size(), Walker::kMaxFrames);
    EXPECT_FALSE(snapshot.complete);
    ExpectSameAsPlain(snapshot);
  }
}

TEST(Walker, ComesUpFromADeepStackFrameByFrame) {
  Prober prober;
  Recurse(&prober, 600, 600);
  Recurse(&prober, 530, 40);
  Recurse(&prober, 480, 40);
  int complete = 0, incomplete = 0;
  for (const Snapshot& snapshot : prober.snapshots) {
    ++(snapshot.complete ? complete : incomplete);
    EXPECT_EQ(snapshot.complete, snapshot.plain.size() <= Walker::kMaxFrames);
    EXPECT_EQ(snapshot.frames.size(), std::min<size_t>(snapshot.plain.size(), Walker::kMaxFrames));
    ExpectSameAsPlain(snapshot);
  }
  EXPECT_GT(complete, 400);
  EXPECT_GT(incomplete, 90);
}

TEST(Walker, EndsWhereCodeHasNoRules) {
  Prober prober;
  const auto probe = [](void* argument) {
    ProbeOnce(static_cast<Prober*>(argument));
    __asm__ volatile("");  // no tail call
  };
  for (int i = 0; i < 2; ++i) {
    HG_KEEP_LOOP(i);
    hg_call_without_rules(probe, &prober);
  }
  for (const Snapshot& snapshot : prober.snapshots) {
    EXPECT_FALSE(snapshot.complete);
    EXPECT_EQ(snapshot.end, StepResult::kUnsupported);
    ASSERT_EQ(snapshot.frames.size(), 3u);  // ProbeOnce, the lambda, the code without rules
    const auto start = reinterpret_cast<uintptr_t>(&hg_call_without_rules);
    EXPECT_LT(snapshot.frames[0].pc - start, 32u);
  }
  EXPECT_EQ(prober.last().unchanged, 3u);
  prober.Probe();
  EXPECT_TRUE(prober.last().complete);
}

TEST(Walker, EndsAtCodeThatBelongsToNoObject) {
  // sub $8,%rsp; mov %rdi,%rax; mov %rsi,%rdi; call *%rax; add $8,%rsp; ret
  const uint8_t code[] = {0x48, 0x83, 0xec, 0x08, 0x48, 0x89, 0xf8, 0x48, 0x89,
                          0xf7, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08, 0xc3};
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(page, code, sizeof code);
  if (mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0) {
    GTEST_SKIP() << "this system does not let a program make code at run time";
  }
  Prober prober;
  const auto call = reinterpret_cast<void (*)(void (*)(void*), void*)>(page);
  const auto probe = [](void* argument) {
    ProbeOnce(static_cast<Prober*>(argument));
    __asm__ volatile("");  // no tail call
  };
  for (int i = 0; i < 2; ++i) {
    HG_KEEP_LOOP(i);
    call(probe, &prober);
  }
  for (const Snapshot& snapshot : prober.snapshots) {
    EXPECT_FALSE(snapshot.complete);
    EXPECT_EQ(snapshot.end, StepResult::kNoObject);
    ASSERT_EQ(snapshot.frames.size(), 3u);
    EXPECT_LT(snapshot.frames[0].pc - reinterpret_cast<uintptr_t>(page), sizeof code);
  }
  EXPECT_EQ(prober.last().unchanged, 3u);
  munmap(page, 4096);
}

Prober* signal_prober;
void ProbeInHandler(int) {
  ProbeOnce(signal_prober);
  __asm__ volatile("");
}

// The signal frame: the restorer, then the interrupted frame with its exact pc, then the rest.
void ExpectSignalFrame(const Snapshot& snapshot) {
  EXPECT_TRUE(snapshot.complete);
  ExpectSameAsPlain(snapshot);
  size_t restorers = 0;
  for (size_t i = 1; i < snapshot.frames.size(); ++i) {
    const bool restorer = (snapshot.frames[i].flags & kFrameRestorer) != 0;
    const bool exact = (snapshot.frames[i - 1].flags & kFrameExactPc) != 0;
    EXPECT_EQ(restorer, exact) << i;
    restorers += restorer;
  }
  EXPECT_EQ(restorers, 1u);
}

TEST(Walker, PassesASignalFrame) {
  Prober prober;
  signal_prober = &prober;
  signal(SIGUSR1, ProbeInHandler);
  for (int i = 0; i < 3; ++i) {
    HG_KEEP_LOOP(i);
    raise(SIGUSR1);
  }
  signal(SIGUSR1, SIG_DFL);
  ASSERT_EQ(prober.snapshots.size(), 3u);
  for (const Snapshot& snapshot : prober.snapshots) ExpectSignalFrame(snapshot);
  EXPECT_EQ(prober.last().unchanged, prober.last().frames.size());
}

TEST(Walker, PassesASignalFrameWhoseRestorerHasNoRules) {
  // As the kernel takes it.
  struct KernelAction {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)();
    uint64_t mask;
  };
  constexpr unsigned long kRestorerFlag = 0x04000000;
  const KernelAction action{ProbeInHandler, kRestorerFlag, hg_restorer_without_rules, 0};
  Prober prober;
  signal_prober = &prober;
  ASSERT_EQ(Syscall(SYS_rt_sigaction, SIGUSR1, &action, nullptr, 8), 0);
  for (int i = 0; i < 2; ++i) raise(SIGUSR1);
  signal(SIGUSR1, SIG_DFL);
  ASSERT_EQ(prober.snapshots.size(), 2u);
  for (const Snapshot& snapshot : prober.snapshots) ExpectSignalFrame(snapshot);
}

ucontext_t coroutine_context, main_context;
Prober* coroutine_prober;

void CoroutineMain() {
  ProbeOnce(coroutine_prober);
  ProbeOnce(coroutine_prober);
  FreezeSyscalls();
  ProbeOnce(coroutine_prober);
  syscalls_frozen.store(false);
}

TEST(Walker, WalksACoroutineToItsStartAndNotAtAllWhenItMayNotProbe) {
  constexpr size_t kBytes = 64 * 1024;
  void* stack = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Prober prober;
  coroutine_prober = &prober;
  getcontext(&coroutine_context);
  coroutine_context.uc_stack.ss_sp = stack;
  coroutine_context.uc_stack.ss_size = kBytes;
  coroutine_context.uc_link = &main_context;
  makecontext(&coroutine_context, CoroutineMain, 0);
  swapcontext(&main_context, &coroutine_context);
  munmap(stack, kBytes);
  ProbeOnce(&prober);
  ASSERT_EQ(prober.snapshots.size(), 4u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(prober.snapshots[i].complete);
    EXPECT_EQ(prober.snapshots[i].frames.size(), 3u);  // ProbeOnce, CoroutineMain, its start
  }
  EXPECT_EQ(prober.snapshots[1].unchanged, 1u);
  EXPECT_FALSE(prober.snapshots[2].complete);
  EXPECT_EQ(prober.snapshots[2].frames.size(), 1u);
  EXPECT_TRUE(prober.snapshots[3].complete);
  ExpectSameAsPlain(prober.snapshots[3]);
}

// Asks for the hash of the stack, as a trace does.
struct Recaller {
  struct Answer {
    bool recalled;
    bool kept;
    bool right;  // the hash is that of a Walker which remembers nothing
  };
  std::unique_ptr<Walker> walker{new Walker()};
  std::unique_ptr<PathMemo> paths{new PathMemo()};
  Answer answer{};
  ProbeAction action{&Recaller::Take, this};

  static void Take(const Registers& registers, void* argument) {
    auto* self = static_cast<Recaller*>(argument);
    const auto fresh = std::make_unique<Walker>();
    const uint64_t expected = fresh->Walk(registers).hash;
    const Path* path = self->walker->Recall(registers, self->paths.get());
    if (path != nullptr) {
      self->answer = {true, true, path->hash == expected};
      return;
    }
    const Stack stack = self->walker->Walk(registers);
    path = self->walker->Keep(registers, stack, self->paths.get());
    self->answer = {false, path != nullptr, stack.hash == expected};
  }
};

[[gnu::noinline]] bool Recalls(Recaller* recaller) {
  hg_probe(&recaller->action);
  EXPECT_TRUE(recaller->answer.right);
  return recaller->answer.recalled;
}
// Two ways to one place.
[[gnu::noinline]] bool RecallsByOneOfTwoWays(Recaller* recaller, bool second) {
  bool recalled;
  if (second) {
    recalled = Recalls(recaller);
    __asm__ volatile("nop");
  } else {
    recalled = Recalls(recaller);
    __asm__ volatile("");
  }
  return recalled;
}
// The same with a frame between whose place is known by its frame pointer alone.
[[gnu::noinline]] bool RecallsBehindAlloca(Recaller* recaller, bool second, size_t bytes) {
  auto* block = static_cast<char*>(__builtin_alloca(bytes));
  __asm__ volatile("" : : "r"(block) : "memory");
  const bool recalled = RecallsByOneOfTwoWays(recaller, second);
  __asm__ volatile("" : : "r"(block) : "memory");
  return recalled;
}

TEST(Walker, RecallsTheWaysToAPlace) {
  Recaller recaller;
  bool recalled[3][2];
  for (int i = 0; i < 6; ++i) {
    HG_KEEP_LOOP(i);
    recalled[i / 2][i % 2] = RecallsByOneOfTwoWays(&recaller, i % 2 != 0);
    EXPECT_TRUE(recaller.answer.kept);
  }
  for (const bool by_second : {false, true}) {
    EXPECT_FALSE(recalled[0][by_second]);
    EXPECT_TRUE(recalled[1][by_second]);
    EXPECT_TRUE(recalled[2][by_second]);
  }
}

TEST(Walker, RecallsWaysWithFramePointers) {
  Recaller recaller;
  // The second block moves all that is inside of its frame.
  const size_t bytes[] = {64, 64, 4096, 64, 4096};
  bool recalled[2][5];
  for (int i = 0; i < 10; ++i) {
    HG_KEEP_LOOP(i);
    recalled[i % 2][i / 2] = RecallsBehindAlloca(&recaller, i % 2 != 0, bytes[i / 2]);
    EXPECT_TRUE(recaller.answer.kept);
  }
  for (const auto& way : recalled) {
    EXPECT_FALSE(way[0]);
    EXPECT_TRUE(way[1]);
    EXPECT_FALSE(way[2]);
    EXPECT_TRUE(way[3]);
    EXPECT_TRUE(way[4]);
  }
}

// Is a stack recalled with another frame pointer? Asked from a frame with or without one.
struct OtherFp {
  bool by_same;
  bool by_other;
};
void RecallWithOtherFp(const Registers& registers, void* argument) {
  Walker walker{};
  PathMemo paths{};
  ASSERT_NE(walker.Keep(registers, walker.Walk(registers), &paths), nullptr);
  const Registers other{registers.pc, registers.sp, registers.fp ^ 64};
  *static_cast<OtherFp*>(argument) = {walker.Recall(registers, &paths) != nullptr,
                                      walker.Recall(other, &paths) != nullptr};
}
[[gnu::noinline]] void ProbeBehindAlloca(ProbeAction* action, size_t bytes) {
  auto* block = static_cast<char*>(__builtin_alloca(bytes));
  __asm__ volatile("" : : "r"(block) : "memory");
  hg_probe(action);
  __asm__ volatile("" : : "r"(block) : "memory");
}

TEST(Walker, RecallsWithAnotherFramePointerOnlyWhereNoStepNeedsIt) {
  OtherFp with{}, without{};
  ProbeAction action{&RecallWithOtherFp, &with};
  ProbeBehindAlloca(&action, 64);
  EXPECT_TRUE(with.by_same);
  EXPECT_FALSE(with.by_other);
  action.argument = &without;
  hg_probe(&action);
  EXPECT_TRUE(without.by_same);
  EXPECT_TRUE(without.by_other);
}

[[gnu::noinline]] bool RecallsDeepInside(Recaller* recaller, int depth) {
  const bool recalled = depth > 0 ? RecallsDeepInside(recaller, depth - 1) : Recalls(recaller);
  __asm__ volatile("");
  return recalled;
}

TEST(Walker, DoesNotRecallAStackWhoseOuterFramesHaveChanged) {
  Recaller recaller;
  constexpr int kDepth = 40;  // deeper than a path
  for (int i = 0; i < 3; ++i) {
    HG_KEEP_LOOP(i);
    EXPECT_FALSE(RecallsDeepInside(&recaller, kDepth)) << i;
    EXPECT_FALSE(RecallsDeepInside(&recaller, kDepth)) << i;  // differs by this one place
  }
  for (int i = 0; i < 3; ++i) {
    HG_KEEP_LOOP(i);
    EXPECT_EQ(RecallsDeepInside(&recaller, kDepth), i > 0) << i;
  }
}

TEST(Walker, RecallsNothingAfterForgettingAndInvalidating) {
  Recaller recaller;
  const auto recalls = [&recaller] {
    bool recalled = false;
    for (int i = 0; i < 2; ++i) {
      HG_KEEP_LOOP(i);
      recalled = RecallsByOneOfTwoWays(&recaller, false);
      EXPECT_EQ(recalled, i > 0);
    }
    return recalled;
  };
  for (int i = 0; i < 3; ++i) {
    HG_KEEP_LOOP(i);
    EXPECT_TRUE(recalls());
    i == 0 ? recaller.walker->Forget() : InvalidateUnwindRules();
  }
}

Recaller* coroutine_recaller;
bool coroutine_answers[2];

void RecallInCoroutine() {
  for (int i = 0; i < 2; ++i) {
    HG_KEEP_LOOP(i);
    Recalls(coroutine_recaller);
    coroutine_answers[i] = coroutine_recaller->answer.recalled || coroutine_recaller->answer.kept;
  }
}

TEST(Walker, KeepsNoPathsOfStacksThatMayBeGone) {
  constexpr size_t kBytes = 64 * 1024;
  void* stack = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Recaller recaller;
  coroutine_recaller = &recaller;
  getcontext(&coroutine_context);
  coroutine_context.uc_stack.ss_sp = stack;
  coroutine_context.uc_stack.ss_size = kBytes;
  coroutine_context.uc_link = &main_context;
  makecontext(&coroutine_context, RecallInCoroutine, 0);
  swapcontext(&main_context, &coroutine_context);
  munmap(stack, kBytes);
  EXPECT_FALSE(coroutine_answers[0]);
  EXPECT_FALSE(coroutine_answers[1]);
}

TEST(Walker, TouchesOnlyThePagesItNeeds) {
  const size_t pages = (sizeof(Walker) + 4095) / 4096;
  EXPECT_LE(sizeof(Walker), 25u * 1024);
  void* memory =
      mmap(nullptr, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct Argument {
    Walker* walker;
  } argument{static_cast<Walker*>(memory)};
  ProbeAction action{[](const Registers& registers, void* pointer) {
                       static_cast<Argument*>(pointer)->walker->Walk(registers);
                     },
                     &argument};
  hg_probe(&action);
  std::vector<unsigned char> resident(pages);
  ASSERT_EQ(mincore(memory, pages * 4096, resident.data()), 0);
  size_t touched = 0;
  for (const unsigned char page : resident) touched += page & 1;
  EXPECT_LE(touched, 4u);
  munmap(memory, pages * 4096);
}

}  // namespace
}  // namespace heapgauge::agent
