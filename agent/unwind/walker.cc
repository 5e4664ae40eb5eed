#include "agent/unwind/walker.h"

#include <atomic>

#include "agent/unwind/step.h"

namespace heapgauge::agent {
namespace {

inline bool IsCode(uintptr_t pc) { return (pc - 1) >> arch::kAddressBits == 0; }

// The first frame outwards, of this and the next two, that is not inside of sp; the third need not
// be so. The compiler is kept from making branches of it, and neither comparison waits for the
// other.
inline WalkedFrame* PassInside(WalkedFrame* frame, uintptr_t sp) {
  uintptr_t first = frame[0].sp < sp ? sizeof(WalkedFrame) : 0;
  uintptr_t second = frame[-1].sp < sp ? sizeof(WalkedFrame) : 0;
  __asm__("" : "+r"(first), "+r"(second));
  return reinterpret_cast<WalkedFrame*>(reinterpret_cast<uintptr_t>(frame) - first - second);
}

// What has changed in the word that a frame's pc was read from, and in that of its fp.
inline uintptr_t PcChange(const WalkedFrame& frame) {
  return LoadWord(frame.sp + static_cast<uintptr_t>(arch::kReturnSlotOffset)) ^ frame.pc;
}
inline uintptr_t LoadFp(const uintptr_t* slot) {
  return LoadWord(reinterpret_cast<uintptr_t>(slot));
}
inline uintptr_t FpChange(const WalkedFrame& frame) { return LoadFp(frame.fp_slot) ^ frame.fp; }

// The word below the frame address that is so many words above sp.
inline uintptr_t LoadReturnAddress(uintptr_t sp, int64_t words) {
  static_assert(arch::kReturnSlotOffset == -int64_t{sizeof(uintptr_t)});
  return reinterpret_cast<const volatile uintptr_t*>(sp)[words - 1];
}

// Checks the return addresses of the frames outside of `frame` up to `end`. The frame whose step
// leads elsewhere, or `end`.
inline const WalkedFrame* VerifyPcs(const WalkedFrame* frame, const WalkedFrame* end) {
  const auto differ = [](const WalkedFrame* of) {
    return (PcChange(of[-1]) | PcChange(of[-2]) | PcChange(of[-3]) | PcChange(of[-4])) != 0;
  };
  if (frame - end >= 4) [[likely]] {
    while (frame - end > 4 && !differ(frame)) frame -= 4;
    // The last four, maybe some of them once more: stacks that differ by a frame take one way.
    if (frame - end <= 4 && !differ(end + 4)) [[likely]]
      return end;
  }
  while (frame != end && PcChange(frame[-1]) == 0) --frame;
  return frame;
}

// Does this end of a walk follow from the code address alone?
constexpr bool EndsBySameCode(StepResult end) {
  return end == StepResult::kOutermost || end == StepResult::kUnsupported;
}

// Steps by any rule. What it reads may lie anywhere.
StepResult StepFrom(uintptr_t pc, bool exact, StackMemory* memory, Rule* rule, State* state) {
  *rule = RuleOf(FindRule(pc, exact), pc, exact);
  return StepSlow(*rule, memory, state);
}

}  // namespace

// `fp` is that of the state.
inline bool Walker::Meets(const WalkedFrame& frame, const State& state) {
  return frame.sp == state.sp && frame.pc == state.pc &&
         ((frame.flags & kFrameExactPc) != 0) == state.exact &&
         ((frame.flags & kFrameUsesFp) == 0 || frame.fp == state.fp);
}

// Does the step from a remembered frame still lead to the next one outwards?
[[gnu::noinline]] bool Walker::VerifyStep(const WalkedFrame& frame) {
  State state{frame.pc, frame.sp, frame.fp, frame.fp_slot, (frame.flags & kFrameExactPc) != 0};
  Rule rule;
  if (StepFrom(frame.pc, state.exact, &memory_, &rule, &state) != StepResult::kStepped) {
    return false;
  }
  WalkedFrame& caller = frames()[&frame - frames() - 1];
  if (!Meets(caller, state)) return false;
  if (state.fp_slot != nullptr) caller.fp_slot = state.fp_slot;
  return true;
}

// Does the walk still end at the outermost frame? The stack is made of the remembered frames up to
// `from` and the new ones.
inline bool Walker::VerifyEnd(const WalkedFrame* from, const WalkedFrame* top) {
  if (EndsBySameCode(end_)) return true;
  if (end_ == StepResult::kTooDeep) return from + 1 == top;
  const WalkedFrame& frame = frames()[0];
  State state{frame.pc, frame.sp, frame.fp, nullptr, (frame.flags & kFrameExactPc) != 0};
  Rule rule;
  return StepFrom(frame.pc, state.exact, &memory_, &rule, &state) == end_;
}

// Of a frame with the pc and sp of the state: is it the state's, as far as the first step tells?
inline bool Walker::MayGoOnFrom(const WalkedFrame& frame, const uintptr_t* fp_slot) {
  if ((frame.flags & kFrameExactPc) != 0) return false;
  if ((frame.flags & kFrameUsesFp) != 0 && frame.fp != LoadFp(fp_slot)) return false;
  return (frame.flags & kFrameChecksPc) == 0 || PcChange((&frame)[-1]) == 0;
}

// Checks the remembered steps from frame `from` outwards. True if all are as they were; otherwise
// `stop` is the frame whose step leads elsewhere. The new frames begin at `top`.
[[gnu::always_inline]] inline bool Walker::Verify(const WalkedFrame* from, const WalkedFrame* top,
                                                  const WalkedFrame** stop) {
  const WalkedFrame* frame = from;
  for (;;) {
    const uint16_t checks = frame->flags & kFrameChecks;
    const WalkedFrame* const run_end = checks == 0 ? frame : frame - frame->run;
    // These words are on the thread's own stack, so they may be read whatever those before them
    // are.
    if (checks == kFrameChecksPc) {
      frame = VerifyPcs(frame, run_end);
    } else if (checks != 0) {
      const auto differ = [](const WalkedFrame* of) {
        return (PcChange(of[-1]) | FpChange(of[-1]) | PcChange(of[-2]) | FpChange(of[-2])) != 0;
      };
      if (frame - run_end >= 2) [[likely]] {
        while (frame - run_end > 2 && !differ(frame)) frame -= 2;
        if (frame - run_end <= 2 && !differ(run_end + 2)) frame = run_end;
      }
      for (; frame != run_end; --frame) {
        if ((PcChange(frame[-1]) | FpChange(frame[-1])) != 0) [[unlikely]]
          break;
      }
    }
    *stop = frame;
    if (frame != run_end) return false;
    if (frame == frames()) return VerifyEnd(from, top);
    if ((frame->flags & kFrameChecks) == 0) {
      if (!VerifyStep(*frame)) return false;
      --frame;
    }
  }
}

// The flags of a frame with a simple rule, by what that does with fp and by kFrameUsesFp of the
// frame outside of it.
struct FlagsOf {
  uint8_t of[16] = {};
  constexpr FlagsOf() {
    for (uint32_t i = 0; i < 16; ++i) {
      const bool reads = (i & packed::kReadsFp) != 0;
      const bool saves = (i & packed::kSavesFp) != 0;
      const bool outer_uses = (i & kFrameUsesFp) != 0;
      of[i] = static_cast<uint8_t>(kFrameChecksPc | (saves && outer_uses ? kFrameChecksFp : 0) |
                                   (reads || (!saves && outer_uses) ? kFrameUsesFp : 0));
    }
  }
};
static_assert((kFrameUsesFp & (packed::kReadsFp | packed::kSavesFp)) == 0);
constexpr FlagsOf kFlagsOf;

// Moves the new frames, from `top` to the end, behind those that are kept, to `frame`, and
// completes them.
inline Stack Walker::Finish(WalkedFrame* frame, const WalkedFrame* top) {
  const auto kept = static_cast<uint32_t>(frame - frames());
  const bool complete = IsComplete(end_);
  uint64_t hash = complete ? kWholeStackSeed : kCutStackSeed;
  // Of the frame outside of the next one.
  uint32_t flags = 0;
  uint32_t run = 0;
  if (kept > 0) {
    hash = frame[-1].hash;
    flags = frame[-1].flags;
    run = frame[-1].run;
  }
  for (const WalkedFrame* const end = frames() + kMaxFrames; top != end; ++top, ++frame) {
    const auto shape = static_cast<uint32_t>(top->hash);
    const uint32_t outer = flags;
    uint32_t exact = 0;
    if (!IsSlow(shape)) [[likely]] {
      flags = kFlagsOf.of[(shape & (packed::kReadsFp | packed::kSavesFp)) | (outer & kFrameUsesFp)];
    } else {
      exact = shape & kFrameExactPc;
      flags = (shape & (kFrameExactPc | kFrameRestorer)) |
              ((shape & kSlowPassesFp) != 0 ? outer & kFrameUsesFp : 0) |
              ((shape & kSlowReadsFp) != 0 ? kFrameUsesFp : 0);
    }
    run = ((flags ^ outer) & kFrameChecks) == 0 ? run + 1 : 1;
    const uintptr_t pc = top->pc;
    const uintptr_t* const fp_slot = top->fp_slot;
    hash = MixFrame(hash, pc, exact != 0);
    frame->pc = pc;
    frame->sp = top->sp;
    frame->fp = LoadFp(fp_slot);
    frame->fp_slot = fp_slot;
    frame->hash = hash;
    frame->flags = static_cast<uint16_t>(flags);
    frame->run = static_cast<uint16_t>(run);
  }
  const auto count = static_cast<uint32_t>(frame - frames());
  std::atomic_signal_fence(std::memory_order_release);
  count_ = count;
  return {frames(), count, kept, hash, complete};
}

// The same if all new frames have these flags: they have nothing to do with fp, as those that are
// kept, or all do what a frame does that has a frame pointer. Some are kept.
template <uint16_t kFlags>
inline Stack Walker::FinishAlike(WalkedFrame* frame, const WalkedFrame* top) {
  const auto kept = static_cast<uint32_t>(frame - frames());
  uint64_t hash = frame[-1].hash;
  constexpr uint16_t kChecks = kFlags & kFrameChecks;
  uint32_t run = (frame[-1].flags & kFrameChecks) == kChecks ? frame[-1].run : 0;
  for (const WalkedFrame* const end = frames() + kMaxFrames; top != end; ++top, ++frame) {
    const uintptr_t pc = top->pc;
    hash = MixFrame(hash, pc, false);
    frame->pc = pc;
    frame->sp = top->sp;
    if constexpr ((kFlags & kFrameUsesFp) != 0) {
      const uintptr_t* const fp_slot = top->fp_slot;
      frame->fp = LoadFp(fp_slot);
      frame->fp_slot = fp_slot;
    }
    frame->hash = hash;
    frame->flags = kFlags;
    frame->run = static_cast<uint16_t>(++run);
  }
  const auto count = static_cast<uint32_t>(frame - frames());
  std::atomic_signal_fence(std::memory_order_release);
  count_ = count;
  return {frames(), count, kept, hash, IsComplete(end_)};
}

// All frames are new.
[[gnu::noinline]] Stack Walker::FinishAll(WalkedFrame* top, StepResult end) {
  end_ = end;
  if (end == StepResult::kTooDeep && !IsSlow(static_cast<uint32_t>(top->hash))) {
    // The outermost one has no step that could be checked.
    top->hash = kSlow | ((top->hash & packed::kReadsFp) != 0 ? kSlowReadsFp : 0);
  }
  return Finish(frames(), top);
}

// Steps from the newest frame by any rule; what is in `state` is its state.
[[gnu::noinline]] StepResult Walker::StepNew(WalkedFrame* frame, State* state) {
  const bool exact = state->exact;
  Rule rule;
  const StepResult result = StepFrom(state->pc, exact, &memory_, &rule, state);
  uint64_t shape = kSlow | (exact ? kFrameExactPc : 0);
  if (rule.ReadsFp()) shape |= kSlowReadsFp;
  if (rule.PassesFp()) shape |= kSlowPassesFp;
  if (rule.kind == RuleKind::kSignal) shape |= kFrameRestorer;
  frame->hash = shape;
  return result;
}

Stack Walker::Walk(const Registers& registers) {
  const bool same_thread = memory_.StartWalk(registers.sp);
  const uint32_t generation = unwind_generation.load(std::memory_order_acquire);
  const uint32_t old = same_thread && generation == generation_ ? count_ : 0;
  count_ = 0;  // a walk that is left by longjmp leaves nothing behind
  generation_ = generation;
  std::atomic_signal_fence(std::memory_order_acq_rel);

  register_fp_ = registers.fp;
  uintptr_t pc = registers.pc;
  uintptr_t sp = registers.sp;
  const uintptr_t* fp_slot = &register_fp_;
  frames_[0].sp = frames_[1].sp = ~uintptr_t{0};
  // Remembered frames up to this one may still be met.
  WalkedFrame* last = frames() + old - 1;
  WalkedFrame* candidate = last;
  WalkedFrame* top = frames() + kMaxFrames;  // new frames are from here to the end
  const auto take_place = [&] {
    if (--top != last) [[likely]]
      return true;
    // No room between: the innermost remembered frame goes.
    candidate = --last;
    return top >= frames();
  };
  // fp and the return address above it fit below the end.
  const auto fp_end_of = [](uintptr_t end) { return end == 0 ? 0 : end - 15; };
  uintptr_t own_end = memory_.EndOf(sp);
  uintptr_t fp_end = fp_end_of(own_end);
  // What some of the new frames' rules do, and what all do.
  PackedRule some = 0;
  PackedRule all = ~PackedRule{0};
  for (;;) {
    // Old and new frames are of similar size: mostly one is passed, and not by a branch, which
    // would often be guessed wrong.
    candidate = PassInside(candidate, sp);
    while (candidate->sp < sp) --candidate;
    if (candidate->pc == pc && candidate->sp == sp && MayGoOnFrom(*candidate, fp_slot)) {
      const WalkedFrame* stop;
      if (Verify(candidate, top, &stop)) {
        candidate->fp_slot = fp_slot;
        constexpr PackedRule kFp = packed::kReadsFp | packed::kSavesFp;
        const bool kept_use_fp = (candidate->flags & kFrameUsesFp) != 0;
        if (!kept_use_fp && (some & packed::kReadsFp) == 0) {
          return FinishAlike<kFrameChecksPc>(candidate + 1, top);
        }
        if (kept_use_fp && (all & kFp) == kFp) {
          return FinishAlike<kFrameChecks | kFrameUsesFp>(candidate + 1, top);
        }
        return Finish(candidate + 1, top);
      }
      candidate -= candidate - stop + 1;
      last = candidate;
    }
    if (!take_place()) [[unlikely]]
      return FinishAll(frames(), StepResult::kTooDeep);
    top->pc = pc;
    top->sp = sp;
    top->fp_slot = fp_slot;
    PackedRule rule;
    if (!internal::rule_cache.FindTagged(pc - 1, &rule)) [[unlikely]]
      rule = internal::FindRuleSlow(pc, false);
    top->hash = rule;
    some |= rule;
    all &= rule;
    if (packed::IsFramePointer(rule)) {
      // Where this frame's place is known from fp alone, it does not wait for the rule: the
      // processor goes on by guessing which kind of rule it will be.
      const uintptr_t fp = LoadFp(fp_slot);
      if (fp >= sp && fp % 8 == 0 && fp < fp_end) [[likely]] {
        const uintptr_t caller = LoadWord(fp + sizeof(uintptr_t));
        if (IsCode(caller)) [[likely]] {
          fp_slot = reinterpret_cast<const uintptr_t*>(fp);
          pc = caller;
          sp = fp + 2 * sizeof(uintptr_t);
          continue;
        }
      }
    } else if (packed::IsSimple(rule)) [[likely]] {
      const int64_t words = packed::CfaWords(rule);
      const auto fp_offset = static_cast<uintptr_t>(packed::FpOffset(rule));
      uintptr_t cfa;
      uintptr_t caller = 0;
      if ((rule & packed::kReadsFp) == 0) [[likely]] {
        cfa = sp + static_cast<uintptr_t>(words) * sizeof(uintptr_t);
        // In one go from sp and the rule: the next step waits for nothing else.
        if (cfa <= own_end) [[likely]]
          caller = LoadReturnAddress(sp, words);
      } else {
        cfa = LoadFp(fp_slot) + static_cast<uintptr_t>(words) * sizeof(uintptr_t);
        const uintptr_t lowest = cfa + fp_offset;  // fp's slot, or the return slot
        if (cfa <= own_end && lowest >= sp && lowest < cfa && cfa % 8 == 0)
          caller = LoadWord(cfa + static_cast<uintptr_t>(arch::kReturnSlotOffset));
      }
      if (IsCode(caller)) [[likely]] {
        const bool saves = (rule & packed::kSavesFp) != 0;
        fp_slot = saves ? reinterpret_cast<const uintptr_t*>(cfa + fp_offset) : fp_slot;
        pc = caller;
        sp = cfa;
        continue;
      }
    }
    some = packed::kReadsFp;  // or something else that needs a look
    all = 0;
    State state{pc, sp, LoadFp(fp_slot), nullptr, false};
    for (;;) {
      const StepResult result = StepNew(top, &state);
      if (result != StepResult::kStepped) return FinishAll(top, result);
      if (state.fp_slot != nullptr) fp_slot = state.fp_slot;
      if (state.exact) candidate = last;  // another stack maybe: its frames may be anywhere
      if (!state.exact && IsCode(state.pc)) break;
      if (!take_place()) return FinishAll(frames(), StepResult::kTooDeep);
      *top = {state.pc, state.sp, state.fp, fp_slot, 0, 0, 0};
    }
    pc = state.pc;
    sp = state.sp;
    own_end = memory_.EndOf(sp);
    fp_end = fp_end_of(own_end);
  }
}

// Checks all remembered steps from a frame outwards, of a walk that begins at `sp`.
[[gnu::noinline]] bool Walker::VerifyAny(const WalkedFrame& from, uintptr_t sp) {
  memory_.StartWalk(sp);
  const uint32_t count = count_;
  count_ = 0;  // a walk that is left by longjmp leaves nothing behind
  std::atomic_signal_fence(std::memory_order_acq_rel);
  const WalkedFrame* stop;
  const bool same = Verify(&from, nullptr, &stop);
  std::atomic_signal_fence(std::memory_order_release);
  count_ = count;
  return same;
}

// Is the stack the one that the path is of? The registers' sp is known to be on the own stack.
[[gnu::always_inline]] inline bool Walker::IsSame(const Path& path, const Registers& registers) {
  const uintptr_t sp = registers.sp;
  if (path.pc != registers.pc || path.sp != sp || path.end >= count_) [[unlikely]]
    return false;
  const WalkedFrame& end = frames()[path.end];
  const uintptr_t end_sp = sp + path.end_offset * sizeof(uintptr_t);
  if (end.sp != end_sp || end.hash != path.end_hash || end_sp > memory_.own_high()) [[unlikely]]
    return false;
  if (path.uses_fp != 0 && (((path.uses_fp & Path::kStart) != 0 && path.fp != registers.fp) ||
                            ((path.uses_fp & Path::kEnd) != 0 && path.end_fp != end.fp))) {
    return false;
  }
  const auto change = [&](uint32_t i) {
    return LoadWord(sp + path.offset[i] * sizeof(uintptr_t)) ^ path.word[i];
  };
  static_assert(Path::kFewWords == 4);
  if ((PcChange(end) | change(0) | change(1) | change(2) | change(3)) != 0) return false;
  for (uint32_t i = Path::kFewWords; i < path.words; ++i) {
    if (change(i) != 0) return false;
  }
  // Mostly the rest is simple, too.
  const bool simple =
      (end.flags & kFrameChecks) == kFrameChecksPc && end.run == path.end && EndsBySameCode(end_);
  return simple ? VerifyPcs(&end, frames()) == frames() : VerifyAny(end, sp);
}

Path* Walker::Recall(const Registers& registers, PathMemo* paths) {
  const uint64_t key = PathMemo::KeyOf(registers.pc, registers.sp);
  const uint32_t generation = unwind_generation.load(std::memory_order_acquire);
  if (!memory_.KnowsAsOwn(registers.sp) || generation != generation_) [[unlikely]]
    return nullptr;
  Path* path = paths->First(key);
  while (path != nullptr) {
    if (path->generation == generation && IsSame(*path, registers)) [[likely]]
      break;
    path = paths->Next(key, path);
  }
  return path;
}

Path* Walker::Keep(const Registers& registers, const Stack& stack, PathMemo* paths) const {
  const uintptr_t sp = registers.sp;
  const uintptr_t own_end = memory_.EndOf(sp);
  if (stack.count < 2 || own_end == 0) return nullptr;
  const WalkedFrame* const leaf = stack.frames + stack.count - 1;
  // At least to the frame that was met, if there is room: it seems to last, and those further out
  // even more.
  const WalkedFrame* const met = stack.frames + stack.unchanged - (stack.unchanged > 0 ? 1 : 0);
  const WalkedFrame* end = leaf;
  for (uint32_t words = 0; end != stack.frames; --end) {
    const bool is_simple = (end->flags & kFrameChecksPc) != 0;
    if (!is_simple || words + 2 > Path::kMaxWords || (end <= met && words > Path::kFewWords)) break;
    words += (end->flags & kFrameChecksFp) != 0 ? 2 : 1;
  }
  constexpr uintptr_t kMostBytes = UINT16_MAX * sizeof(uintptr_t);
  if (end == leaf || end->sp > own_end || end->sp - sp > kMostBytes) return nullptr;

  const uint64_t key = PathMemo::KeyOf(registers.pc, sp);
  Path* const path = paths->TakePlace(key);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  uint32_t words = 0;
  const auto add = [&](uintptr_t address, uintptr_t word) {
    path->offset[words] = static_cast<uint16_t>((address - sp) / sizeof(uintptr_t));
    path->word[words++] = word;
  };
  const auto add_pc = [&add](const WalkedFrame& of) {
    add(of.sp + static_cast<uintptr_t>(arch::kReturnSlotOffset), of.pc);
  };
  for (const WalkedFrame* frame = leaf - 1;; --frame) {
    // Saved between the two: so it was with a simple rule.
    if ((frame[1].flags & kFrameChecksFp) != 0) {
      add(reinterpret_cast<uintptr_t>(frame->fp_slot), frame->fp);
    }
    if (frame == end) break;
    add_pc(*frame);
  }
  while (words < Path::kFewWords) add_pc(*end);
  path->pc = registers.pc;
  path->sp = sp;
  path->end_hash = end->hash;
  path->number = 0;
  path->words = static_cast<uint8_t>(words);
  path->uses_fp = static_cast<uint8_t>(((leaf->flags & kFrameUsesFp) != 0 ? Path::kStart : 0) |
                                       ((end->flags & kFrameUsesFp) != 0 ? Path::kEnd : 0));
  path->generation = generation_;
  path->end = static_cast<uint16_t>(end - stack.frames);
  path->end_offset = static_cast<uint16_t>((end->sp - sp) / sizeof(uintptr_t));
  path->hash = stack.hash;
  path->fp = registers.fp;
  path->end_fp = end->fp;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  paths->AddKey(key, path);
  return path;
}

}  // namespace heapgauge::agent
