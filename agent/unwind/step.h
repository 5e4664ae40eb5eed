// One step of a walk: from the state in a frame to the state in its caller. The next state is a
// function of the state, the rule, and the words that the rule makes us read, nothing else.
// Walker's memory of old stacks rests on that.
//
// Reads only memory that StackMemory allows. Allocation-free, async-signal-safe.
#pragma once

#include <cstdint>

#include "agent/unwind/frame.h"
#include "agent/unwind/rule.h"
#include "agent/unwind/rule_lookup.h"
#include "agent/unwind/stack_memory.h"

namespace heapgauge::agent {

enum class StepResult : uint8_t {
  kStepped,
  // Ends. The first two follow from the code address alone.
  kOutermost,
  kUnsupported,
  kNoObject,    // another object may be loaded there later
  kZeroReturn,  // the return address is 0: outermost by convention
  kBadStack,    // a word cannot be read, or the stack does not grow
  kTooDeep,     // more frames than there is room for; said by the walks, not by a step
};

// Is this end the end of the whole stack?
constexpr bool IsComplete(StepResult result) {
  return result == StepResult::kOutermost || result == StepResult::kZeroReturn;
}

struct State {
  uintptr_t pc;
  uintptr_t sp;
  uintptr_t fp;
  const uintptr_t* fp_slot;  // where fp was read in the step to this state; null: nowhere
  bool exact;
};

// Steps by any rule on any stack.
StepResult StepSlow(const Rule& rule, StackMemory* memory, State* state);

inline Rule RuleOf(PackedRule packed, uintptr_t pc, bool exact) {
  return packed != 0 ? Unpack(packed) : EvaluateRule(pc, exact);
}

inline uintptr_t LoadWord(uintptr_t address) {
  return *reinterpret_cast<const volatile uintptr_t*>(address);
}

// Steps if the rule is a simple one and all it reads lies on the thread's own stack; otherwise
// false and nothing is changed. The common case, without branches that depend on the kind of frame.
inline bool StepFast(PackedRule rule, const StackMemory& memory, State* state) {
  const RuleKind kind = packed::Kind(rule);
  if (kind != RuleKind::kSpRelative && kind != RuleKind::kFpRelative) [[unlikely]]
    return false;
  if (packed::FpKindOf(rule) == FpKind::kFpIndirect) [[unlikely]]
    return false;
  const uintptr_t sp = state->sp;
  const uintptr_t low = memory.own_low();
  const uintptr_t size = memory.own_high() - low;
  const uintptr_t base = kind == RuleKind::kFpRelative ? state->fp : sp;
  const uintptr_t cfa = base + static_cast<uintptr_t>(packed::CfaOffset(rule));
  const uintptr_t return_slot = cfa + static_cast<uintptr_t>(arch::kReturnSlotOffset);
  // The stack grows: sp <= return slot. Both are in the range if sp is and the slot is.
  if (sp - low >= size || return_slot - sp >= low + size - sp || cfa % 8 != 0) [[unlikely]] {
    return false;
  }
  const bool saved = packed::FpKindOf(rule) == FpKind::kCfaRelative;
  const uintptr_t fp_slot = cfa + static_cast<uintptr_t>(packed::FpOffset(rule));
  if (saved && fp_slot - low >= size) [[unlikely]]
    return false;
  const uintptr_t pc = LoadWord(return_slot);
  if (pc == 0) [[unlikely]]
    return false;
  if (saved) {
    state->fp = LoadWord(fp_slot);
    state->fp_slot = reinterpret_cast<const uintptr_t*>(fp_slot);
  } else {
    state->fp_slot = nullptr;
  }
  state->pc = pc;
  state->sp = cfa;
  state->exact = false;
  return true;
}

}  // namespace heapgauge::agent
