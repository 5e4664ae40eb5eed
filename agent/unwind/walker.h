// Walks the stack of the calling thread and remembers it, because the next walk of the same thread
// will mostly find the same frames further out. It steps with unwind rules only until it meets a
// remembered frame; from there on it just checks that the words which the old steps read are still
// the same.
//
// Why that is exact: a step is a function of the state (pc, sp, fp), the rule of the pc and the
// words read.
//   1. A remembered frame is met only if pc and sp are equal, and fp if some step further out reads
//   it.
//   2. From there every word that decides about the old steps is read again: return addresses, and
//      the saved fp where a step further out reads it. Strictly in order from inside out, unless it
//      lies on the thread's own stack: a place further out is known only once the inner words have
//      matched, and may be unmapped otherwise. At the first difference the walk goes on by stepping
//      from the frame that was met, which finds the fp that nobody needed so far.
//   3. The fp of a remembered frame is right only if a step further out reads it (kFrameUsesFp);
//      whether one does is known from the outer frames alone, so it does not change while the frame
//      is remembered. Where the frame met got its fp from is taken over from the new walk.
//   4. Rules change only with the loaded code: InvalidateUnwindRules() makes all Walkers forget.
//
// Who wants to know a stack only by its hash, and asks for it at every turn, need not even step
// where the way is a known one (path_memo.h, Recall). The same argument holds: the first state is
// equal, every word that decides about the steps to a remembered frame is, and from that frame on
// it is as in 2. That frame is the one of the time when the path was kept if its sp, its hash and,
// where a step needs it, its fp are; its pc is compared with the word it is read from. The
// remembered stack need not be the last one for that, and stays as it is.
//
// One Walker per thread, in zero-initialised memory that does not move: zeros are a valid fresh
// Walker. Not re-entrant: a signal handler must not use a Walker that is in the midst of a walk,
// but it may leave it for good by longjmp; the Walker then starts afresh. Pages are touched as they
// are needed. Allocation-free, async-signal-safe, no locks.
#pragma once

#include <cstdint>

#include "agent/unwind/path_memo.h"
#include "agent/unwind/rule_lookup.h"
#include "agent/unwind/stack_memory.h"
#include "agent/unwind/step.h"
#include "wire/gauge_format.h"

namespace heapgauge::agent {

// A stack as the last walk found it. Valid until the Walker's next walk.
struct Stack {
  const WalkedFrame* frames;  // root first; the leaf is frames[count - 1]
  uint32_t count;             // at least 1
  uint32_t unchanged;         // so many frames at the root are surely those of the walk before
  uint64_t hash;              // of the leaf
  bool complete;              // the outermost frame was reached
};

class Walker {
 public:
  static constexpr uint32_t kMaxFrames = wire::kMaxFrames;

  // Walks from the caller's state. Of a deeper stack the innermost kMaxFrames are kept.
  Stack Walk(const Registers& registers);

  // The path that the stack is of, if one is known from there, else nullptr. Its hash is what
  // Walk() would find.
  Path* Recall(const Registers& registers, PathMemo* paths);
  // Adds the path of the stack that Walk() has just found from these registers; nullptr if it has
  // none: its innermost frame is not a simple one, or not on the thread's own stack.
  Path* Keep(const Registers& registers, const Stack& stack, PathMemo* paths) const;

  // Forgets the remembered stack and what is known about the thread's memory. To be called when the
  // Walker is handed to another thread.
  void Forget() {
    count_ = 0;
    memory_.Forget();
  }

  // What is known about the thread's memory.
  const StackMemory& memory() const { return memory_; }

 private:
  // While a frame is new, its hash is not known yet; in its place stand the low bits of the packed
  // rule, if that was a simple one on the own stack, otherwise kSlow and flags.
  // No simple rule has these five bits.
  static constexpr uint32_t kSlow = 28;
  static constexpr uint32_t kSlowReadsFp = 32;
  static constexpr uint32_t kSlowPassesFp = 64;
  static_assert(!packed::IsSimple(kSlow | kFrameExactPc | kFrameRestorer));
  static_assert((kSlow & (kFrameExactPc | kFrameRestorer)) == 0);
  static bool IsSlow(uint32_t shape) { return (shape & kSlow) == kSlow; }

  WalkedFrame* frames() { return frames_ + kGuards; }

  bool IsSame(const Path& path, const Registers& registers);
  bool VerifyAny(const WalkedFrame& from, uintptr_t sp);
  static bool Meets(const WalkedFrame& frame, const State& state);
  static bool MayGoOnFrom(const WalkedFrame& frame, const uintptr_t* fp_slot);
  bool Verify(const WalkedFrame* from, const WalkedFrame* top, const WalkedFrame** stop);
  bool VerifyStep(const WalkedFrame& frame);
  bool VerifyEnd(const WalkedFrame* from, const WalkedFrame* top);
  StepResult StepNew(WalkedFrame* frame, State* state);
  Stack Finish(WalkedFrame* frame, const WalkedFrame* top);
  template <uint16_t kFlags>
  Stack FinishAlike(WalkedFrame* frame, const WalkedFrame* top);
  Stack FinishAll(WalkedFrame* top, StepResult end);

  StackMemory memory_;
  uintptr_t register_fp_;  // where the walk began
  uint32_t generation_;    // unwind_generation when the frames were found
  uint32_t count_;         // remembered frames; 0 during a walk
  StepResult end_;         // why the remembered walk ended

  // First guards with the largest sp there is, so that a search ends without a test; one looks at
  // two at a time. Behind them the remembered frames, root first. A walk puts its new frames at the
  // back, growing towards the front, so that they stand in the right order and move down when the
  // walk is done.
  static constexpr uint32_t kGuards = 2;
  WalkedFrame frames_[kGuards + kMaxFrames];
};

}  // namespace heapgauge::agent
