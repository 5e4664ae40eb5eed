// A tree of functions to take random walks through. tree_functions.cc is compiled several times, by
// different compilers and at different levels, so that frames of many layouts mix on one stack;
// tree_calls.cc adds the unusual ways to get from one frame to the next.
//
// One Tree per thread.
#pragma once

#include <setjmp.h>

#include <cstdint>

namespace heapgauge::unwind_test {
struct Tree;
}

extern "C" {
void hg_probe(void* tree);
// See tree_frames.S.
using PaddedFunction = uint64_t (*)(heapgauge::unwind_test::Tree*, int depth, int pad);
uint64_t hg_one_frame(heapgauge::unwind_test::Tree*, int depth, int pad, PaddedFunction next);
uint64_t hg_two_frames(heapgauge::unwind_test::Tree*, int depth, int pad, PaddedFunction next);
}

namespace heapgauge::unwind_test {

using TreeFunction = uint64_t (*)(Tree*, int depth);

// The kinds of frame and of call that a walk can meet; counted, so that a test can show it met
// them.
enum Kind : int {
  kPlain,
  kLarge,
  kAlloca,
  kRealigned,
  kRealignedAlloca,
  kBusyRegisters,
  kHugeFrame,
  kCompensated,
  kPlt,
  kQsort,
  kException,
  kLongjmp,
  kCoroutine,
  kSignal,
  kSignalOnAlternateStack,
  kLongjmpOutOfSignal,
  kTimerSignal,
  kKinds,
};

struct Tree {
  uint64_t random;
  int64_t budget;  // probes left in this round; functions return as soon as it is used up
  uint64_t counts[kKinds];
  int catchers;      // frames on this stack that catch a Thrown
  sigjmp_buf* jump;  // set while a frame on this stack takes longjmps
  bool in_signal;    // on a handler's frames
  const TreeFunction* functions;
  uint32_t function_count;
  void* owner;

  uint32_t Next(uint32_t below) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return static_cast<uint32_t>((random >> 20) % below);
  }
  bool Done() const { return budget <= 0; }
};

struct Thrown {
  int value;
};

// Goes one level deeper, by a random function.
inline uint64_t Descend(Tree* tree, int depth) {
  if (depth <= 0 || tree->Done()) return 1;
  const TreeFunction next = tree->functions[tree->Next(tree->function_count)];
  return next(tree, depth - 1);
}

// What a function of the tree does at its place: probes, goes deeper, sometimes leaves in a hurry.
// Always inlined, so that the calls come from the frame of the function.
[[gnu::always_inline]] inline uint64_t Visit(Tree* tree, int depth) {
  uint64_t sum = 0;
  const uint32_t rounds = 1 + tree->Next(3);
  for (uint32_t i = 0; i < rounds && !tree->Done(); ++i) {
    if (tree->Next(2) == 0) hg_probe(tree);
    sum += Descend(tree, depth) * (i + 3);
    // Something to do in between, so that timers find other code than the probe.
    for (uint32_t spin = tree->Next(16); spin > 0; --spin) sum += tree->Next(7);
    if (tree->Next(8) == 0) hg_probe(tree);
    sum ^= sum >> 9;
  }
  return sum;
}

// Throws or jumps if somebody is there to take it; otherwise returns.
void MaybeLeave(Tree* tree);

// The functions of one compilation of tree_functions.cc.
struct FunctionTable {
  const TreeFunction* functions;
  uint32_t count;
};
FunctionTable TreeFunctionsGccO2();
FunctionTable TreeFunctionsGccO3();
FunctionTable TreeFunctionsGccFramePointer();
FunctionTable TreeFunctionsClangO2();
FunctionTable TreeFunctionsClangO3();
// The calls of tree_calls.cc.
FunctionTable TreeCalls();

// In a shared library of its own: calls back through the PLT.
uint64_t CallThroughLibrary(Tree* tree, int depth, TreeFunction function);

// Installs the handlers (once for the process) and an alternate stack (for this thread).
void InstallSignalHandlers();
void InstallAlternateStack();

}  // namespace heapgauge::unwind_test
