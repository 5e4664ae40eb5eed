#include "agent/unwind/walker.h"

#include <atomic>

#include "agent/unwind/stack_hash.h"

namespace heapgauge::agent {
namespace {

uint16_t FlagsOf(const Rule& rule, bool exact) {
  uint16_t flags = exact ? kFrameExactPc : 0;
  if (rule.ReadsFp()) flags |= kFrameReadsFp;
  if (rule.PassesFp()) flags |= kFramePassesFp;
  if (rule.kind == RuleKind::kSignal) flags |= kFrameRestorer;
  return flags;
}

// The same for a rule that StepFast() has followed.
uint16_t FastFlagsOf(PackedRule rule, bool exact) {
  const unsigned reads = packed::Kind(rule) == RuleKind::kFpRelative;
  const unsigned passes = packed::FpKindOf(rule) == FpKind::kSame;
  return static_cast<uint16_t>(kFrameFastStep | (exact ? kFrameExactPc : 0) |
                               reads * kFrameReadsFp | passes * kFramePassesFp);
}

State StateOf(const Frame& frame) {
  return {frame.pc, frame.sp, frame.fp, nullptr, (frame.flags & kFrameExactPc) != 0};
}

StepResult StepFrom(const Frame& frame, StackMemory* memory, State* state) {
  *state = StateOf(frame);
  return StepSlow(RuleOf(frame.rule, frame.pc, state->exact), memory, state);
}

// Steps from a new frame, whose rule is set, and completes its flags. `state` is the frame's state.
inline StepResult StepNew(Frame* frame, StackMemory* memory, State* state) {
  const bool exact = state->exact;
  if (StepFast(frame->rule, *memory, state)) [[likely]] {
    frame->flags = FastFlagsOf(frame->rule, exact);
    return StepResult::kStepped;
  }
  const Rule rule = RuleOf(frame->rule, state->pc, exact);
  if (rule.kind == RuleKind::kNoObject) frame->rule = 0;  // ask again next time
  frame->flags = FlagsOf(rule, exact);
  State copy = *state;  // so that the caller's can stay in registers
  const StepResult result = StepSlow(rule, memory, &copy);
  *state = copy;
  return result;
}

}  // namespace

inline bool Walker::Meets(const Frame& frame, const State& state) {
  return frame.sp == state.sp && frame.pc == state.pc &&
         ((frame.flags & kFrameExactPc) != 0) == state.exact &&
         ((frame.flags & kFrameUsesFp) == 0 || frame.fp == state.fp);
}

// The frame's fp has changed: so have those that it is passed on to.
void Walker::CarryFp(uint32_t index) {
  for (; index > 0 && (frames()[index].flags & kFramePassesFp) != 0; --index) {
    frames()[index - 1].fp = frames()[index].fp;
  }
}

inline void Walker::Replace(uint32_t index, const State& state) {
  Frame& frame = frames()[index];
  frame.fp_slot = state.fp_slot != nullptr ? state.fp_slot : &frame.fp;
  if (frame.fp != state.fp) {
    frame.fp = state.fp;
    CarryFp(index);
  }
}

// Does the step from frame `index` still lead to frame `index - 1`?
bool Walker::VerifyStep(uint32_t index) {
  State state;
  if (StepFrom(frames()[index], &memory_, &state) != StepResult::kStepped) return false;
  const Frame& caller = frames()[index - 1];
  if (!Meets(caller, state)) return false;
  Replace(index - 1, state);
  return true;
}

// Does the walk still end at frame 0? `total` is how many frames the stack has.
bool Walker::VerifyEnd(uint32_t total) {
  if (end_ == StepResult::kOutermost || end_ == StepResult::kUnsupported) return true;
  if (end_ == StepResult::kTooDeep) return total == kMaxFrames;
  State state;
  return StepFrom(frames()[0], &memory_, &state) == end_;
}

// Checks the remembered steps from frame `from` outwards. True if all are as they were; otherwise
// `stop` is the frame whose step leads elsewhere. `added` is the number of new frames inside of
// `from`.
inline bool Walker::Verify(uint32_t from, uint32_t added, uint32_t* stop) {
  Frame* frame = &frames()[from];
  for (;;) {
    const Frame* const run_end = frame - frame->fast_run;
    while (frame != run_end) {
      Frame* const caller = frame - 1;
      const uintptr_t return_slot = caller->sp + static_cast<uintptr_t>(arch::kReturnSlotOffset);
      const uintptr_t pc_change = LoadWord(return_slot) ^ caller->pc;
      const uintptr_t fp = *static_cast<const volatile uintptr_t*>(caller->fp_slot);
      if ((pc_change | (fp ^ caller->fp)) != 0) [[unlikely]] {
        if (pc_change != 0 || (caller->flags & kFrameUsesFp) != 0) {
          *stop = static_cast<uint32_t>(frame - frames());
          return false;
        }
        caller->fp = fp;  // nobody needs it further out
        CarryFp(static_cast<uint32_t>(caller - frames()));
      }
      frame = caller;
    }
    const uint32_t index = static_cast<uint32_t>(frame - frames());
    *stop = index;
    if (index == 0) return VerifyEnd(from + 1 + added);
    if (!VerifyStep(index)) return false;
    --frame;
  }
}

// Takes the remembered frames from `from` (inner) to `to` (outer) over among the new ones.
void Walker::Retake(uint32_t from, uint32_t to, uint32_t* top) {
  for (uint32_t i = from + 1; i-- > to;) {
    const bool own_slot = frames()[i].fp_slot == &frames()[i].fp;
    Frame& copy = frames()[--*top];
    copy = frames()[i];
    if (own_slot) copy.fp_slot = nullptr;
  }
}

// Moves the new frames, [top, kMaxFrames), behind the first `kept` ones and completes them.
inline Stack Walker::Finish(uint32_t kept, uint32_t top) {
  const bool complete = IsComplete(end_);
  uint64_t hash = complete ? kWholeStackSeed : kCutStackSeed;
  uint16_t outer_uses_fp = 0;
  uint16_t run = 0;
  if (kept > 0) {
    const Frame& outer = frames()[kept - 1];
    hash = outer.hash;
    outer_uses_fp = outer.flags & kFrameUsesFp;
    run = outer.fast_run;
  }
  uint32_t count = kept;
  for (uint32_t i = top; i < kMaxFrames; ++i, ++count) {
    const Frame from = frames()[i];
    Frame& frame = frames()[count];
    const uint16_t base = from.flags & static_cast<uint16_t>(~kFrameUsesFp);
    const bool fast = (base & kFrameFastStep) != 0 && count > 0;
    run = fast ? static_cast<uint16_t>(run + 1) : uint16_t{0};
    if ((base & kFramePassesFp) == 0) outer_uses_fp = 0;
    if ((base & kFrameReadsFp) != 0) outer_uses_fp = kFrameUsesFp;
    hash = MixFrame(hash, from.pc, (base & kFrameExactPc) != 0);
    frame.pc = from.pc;
    frame.sp = from.sp;
    frame.fp = from.fp;
    frame.fp_slot = from.fp_slot != nullptr ? from.fp_slot : &frame.fp;
    frame.hash = hash;
    frame.rule = from.rule;
    frame.flags = base | outer_uses_fp;
    frame.fast_run = run;
  }
  std::atomic_signal_fence(std::memory_order_release);
  count_ = count;
  return {frames(), count, kept, hash, complete};
}

Stack Walker::Walk(const Registers& registers) {
  const bool same_thread = memory_.StartWalk(registers.sp);
  const uint32_t generation = unwind_generation.load(std::memory_order_acquire);
  uint32_t old = same_thread && generation == generation_ ? count_ : 0;
  count_ = 0;  // a walk that is left by longjmp leaves nothing behind
  generation_ = generation;
  std::atomic_signal_fence(std::memory_order_acq_rel);

  State state{registers.pc, registers.sp, registers.fp, nullptr, false};
  uint32_t top = kMaxFrames;  // new frames are [top, kMaxFrames)
  frames_[0].sp = ~uintptr_t{0};
  // Remembered frames up to this one may still be met.
  Frame* candidate = frames() + old - 1;
  for (;;) {
    // Old and new frames are of similar size: mostly one is passed, and not by a branch, which
    // would often be guessed wrong.
    candidate -= candidate->sp < state.sp;
    candidate -= candidate->sp < state.sp;
    while (candidate->sp < state.sp) --candidate;
    if (Meets(*candidate, state)) {
      const uint32_t met = static_cast<uint32_t>(candidate - frames());
      Replace(met, state);
      uint32_t stop;
      if (Verify(met, kMaxFrames - top, &stop)) return Finish(met + 1, top);
      Retake(met, stop, &top);
      old = stop;
      candidate = frames() + old - 1;
      state = StateOf(frames()[top]);
    } else {
      if (top == 0) {
        end_ = StepResult::kTooDeep;
        return Finish(0, top);
      }
      if (top == old) {  // no room between: the innermost remembered frame goes
        --old;
        if (candidate >= frames() + old) --candidate;
      }
      Frame& frame = frames()[--top];
      frame.pc = state.pc;
      frame.sp = state.sp;
      frame.fp = state.fp;
      frame.fp_slot = state.fp_slot;
      frame.rule = FindRule(state.pc, state.exact);
    }
    const StepResult result = StepNew(&frames()[top], &memory_, &state);
    if (result != StepResult::kStepped) [[unlikely]] {
      end_ = result;
      return Finish(0, top);
    }
    if (state.exact)
      candidate = frames() + old - 1;  // another stack maybe: its frames may be anywhere
  }
}

}  // namespace heapgauge::agent
