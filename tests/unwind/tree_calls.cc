// The unusual ways from one frame to the next: callbacks of libc, exceptions, longjmp, coroutines,
// signals.
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>

#include "tests/unwind/tree.h"

namespace heapgauge::unwind_test {
namespace {

// The tree of the thread, for callbacks without an argument of their own.
thread_local Tree* current;
thread_local int current_depth;

// Frames beyond this point cannot be left by an exception or a jump: they are on another stack, or
// were interrupted. Restores on return.
struct Barrier {
  explicit Barrier(Tree* t) : tree(t), catchers(t->catchers), jump(t->jump) {
    tree->catchers = 0;
    tree->jump = nullptr;
  }
  ~Barrier() {
    tree->catchers = catchers;
    tree->jump = jump;
  }
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;
  Tree* tree;
  int catchers;
  sigjmp_buf* jump;
};

int CompareAndDescend(const void* a, const void* b) {
  Tree* tree = current;
  if (tree->Next(3) == 0) {
    Descend(tree, current_depth);
    current = tree;
  }
  hg_probe(tree);
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

uint64_t CallQsort(Tree* tree, int depth) {
  ++tree->counts[kQsort];
  int numbers[6];
  for (int& number : numbers) number = static_cast<int>(tree->Next(100));
  current = tree;
  current_depth = depth > 3 ? 3 : depth;
  qsort(numbers, 6, sizeof numbers[0], CompareAndDescend);
  return static_cast<uint64_t>(numbers[0]);
}

uint64_t CallCatching(Tree* tree, int depth) {
  const int catchers = tree->catchers;
  sigjmp_buf* const jump = tree->jump;
  tree->jump = nullptr;  // a jump over this frame is fine, but would leave `catchers` wrong
  tree->catchers = catchers + 1;
  uint64_t result = 0;
  try {
    result = Descend(tree, depth) + 1;
  } catch (const Thrown& thrown) {
    ++tree->counts[kException];
    hg_probe(tree);  // in the handler: the frames of the runtime are gone again
    result = static_cast<uint64_t>(thrown.value);
  }
  tree->catchers = catchers;
  tree->jump = jump;
  hg_probe(tree);
  return result + Descend(tree, depth - 1);
}

uint64_t CallWithJump(Tree* tree, int depth) {
  sigjmp_buf* const outer = tree->jump;
  const int catchers = tree->catchers;
  const bool in_signal = tree->in_signal;
  sigjmp_buf here;
  if (sigsetjmp(here, 1) == 0) {
    tree->catchers = 0;  // an exception must not pass and leave `jump` pointing here
    tree->jump = &here;
    Descend(tree, depth);
  } else {
    ++tree->counts[kLongjmp];
    if (tree->in_signal && !in_signal) ++tree->counts[kLongjmpOutOfSignal];
  }
  tree->in_signal = in_signal;
  tree->jump = outer;
  tree->catchers = catchers;
  hg_probe(tree);
  return Descend(tree, depth - 1);
}

struct Coroutine {
  ucontext_t own, caller;
  Tree* tree;
  int depth;
};

void CoroutineMain(unsigned high, unsigned low) {
  auto* coroutine = reinterpret_cast<Coroutine*>(uintptr_t{high} << 32 | low);
  Tree* tree = coroutine->tree;
  hg_probe(tree);
  Descend(tree, coroutine->depth);
  swapcontext(&coroutine->own, &coroutine->caller);  // once out and in again
  Descend(tree, coroutine->depth - 1);
  hg_probe(tree);
}

uint64_t CallCoroutine(Tree* tree, int depth) {
  if (depth < 1) return 0;
  ++tree->counts[kCoroutine];
  const Barrier barrier(tree);
  // Huge frames need room too.
  constexpr size_t kBytes = 4096 * 1024;
  void* stack = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED) abort();
  Coroutine coroutine;
  coroutine.tree = tree;
  coroutine.depth = depth > 8 ? 8 : depth;
  getcontext(&coroutine.own);
  coroutine.own.uc_stack.ss_sp = stack;
  coroutine.own.uc_stack.ss_size = kBytes;
  coroutine.own.uc_link = &coroutine.caller;
  const auto address = reinterpret_cast<uintptr_t>(&coroutine);
  makecontext(&coroutine.own, reinterpret_cast<void (*)()>(CoroutineMain), 2,
              static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
  swapcontext(&coroutine.caller, &coroutine.own);
  hg_probe(tree);
  swapcontext(&coroutine.caller, &coroutine.own);
  munmap(stack, kBytes);
  hg_probe(tree);
  return 1;
}

void HandleRaised(int number) {
  Tree* tree = current;
  const int depth = current_depth;
  ++tree->counts[number == SIGUSR1 ? kSignal : kSignalOnAlternateStack];
  const int catchers = tree->catchers;
  const bool in_signal = tree->in_signal;
  tree->catchers = 0;  // nothing is thrown out of a handler; jumps are fine
  tree->in_signal = true;
  hg_probe(tree);
  Descend(tree, depth);
  tree->in_signal = in_signal;
  tree->catchers = catchers;
}

uint64_t CallRaise(Tree* tree, int depth, int number) {
  // A handler's frames leave no room for a handler on the same alternate stack, nor for much depth.
  if (tree->in_signal) return Descend(tree, depth);
  current = tree;
  current_depth = depth > 4 ? 4 : depth;
  raise(number);
  return Descend(tree, depth - 1);
}

uint64_t CallSignal(Tree* tree, int depth) { return CallRaise(tree, depth, SIGUSR1); }
uint64_t CallSignalOnAlternateStack(Tree* tree, int depth) {
  return CallRaise(tree, depth, SIGUSR2);
}

constexpr TreeFunction kCalls[] = {&CallQsort,
                                   &CallCatching,
                                   &CallCatching,
                                   &CallWithJump,
                                   &CallCoroutine,
                                   &CallSignal,
                                   &CallSignalOnAlternateStack};

}  // namespace

FunctionTable TreeCalls() { return {kCalls, sizeof kCalls / sizeof kCalls[0]}; }

void MaybeLeave(Tree* tree) {
  if (tree->catchers > 0) throw Thrown{7};
  if (tree->jump != nullptr) siglongjmp(*tree->jump, 1);
}

void InstallSignalHandlers() {
  struct sigaction action = {};
  action.sa_handler = HandleRaised;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_NODEFER;
  sigaction(SIGUSR1, &action, nullptr);
  action.sa_flags = SA_NODEFER | SA_ONSTACK;
  sigaction(SIGUSR2, &action, nullptr);
}

void InstallAlternateStack() {
  constexpr size_t kBytes = 2048 * 1024;
  stack_t stack = {};
  stack.ss_sp = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack.ss_size = kBytes;
  sigaltstack(&stack, nullptr);
}

}  // namespace heapgauge::unwind_test
