#include "agent/unwind/step.h"

namespace heapgauge::agent {
namespace {

bool Read(StackMemory* memory, uintptr_t address, uintptr_t* value) {
  if (address % 8 != 0 || !memory->MayRead(address)) return false;
  *value = LoadWord(address);
  return true;
}

StepResult StepSignal(StackMemory* memory, State* state) {
  State next{};
  if (!Read(memory, state->sp + arch::kSignalPcOffset, &next.pc) ||
      !Read(memory, state->sp + arch::kSignalSpOffset, &next.sp) ||
      !Read(memory, state->sp + arch::kSignalFpOffset, &next.fp) || next.sp % 8 != 0) {
    return StepResult::kBadStack;
  }
  next.fp_slot = reinterpret_cast<const uintptr_t*>(state->sp + arch::kSignalFpOffset);
  next.exact = true;
  memory->SwitchTo(next.sp);
  *state = next;
  return StepResult::kStepped;
}

}  // namespace

[[gnu::noinline]] StepResult StepSlow(const Rule& rule, StackMemory* memory, State* state) {
  uintptr_t cfa = 0;
  const uintptr_t offset = static_cast<uintptr_t>(rule.cfa_offset);
  switch (rule.kind) {
    case RuleKind::kSpRelative:
      cfa = state->sp + offset;
      break;
    case RuleKind::kFpRelative:
      cfa = state->fp + offset;
      break;
    case RuleKind::kFpDereference:
      if (!Read(memory, state->fp + offset, &cfa)) return StepResult::kBadStack;
      break;
    case RuleKind::kSignal:
      return StepSignal(memory, state);
    case RuleKind::kOutermost:
      return StepResult::kOutermost;
    case RuleKind::kNoObject:
      return StepResult::kNoObject;
    default:
      return StepResult::kUnsupported;
  }
  State next{};
  const uintptr_t return_slot = cfa + static_cast<uintptr_t>(arch::kReturnSlotOffset);
  if (cfa % 8 != 0 || cfa <= state->sp || !Read(memory, return_slot, &next.pc)) {
    return StepResult::kBadStack;
  }
  if (next.pc == 0) return StepResult::kZeroReturn;
  next.sp = cfa;
  next.fp = state->fp;
  if (rule.fp_kind != FpKind::kSame) {
    const uintptr_t base = rule.fp_kind == FpKind::kCfaRelative ? cfa : state->fp;
    const uintptr_t fp_slot = base + static_cast<uintptr_t>(rule.fp_offset);
    if (!Read(memory, fp_slot, &next.fp)) return StepResult::kBadStack;
    next.fp_slot = reinterpret_cast<const uintptr_t*>(fp_slot);
  }
  *state = next;
  return StepResult::kStepped;
}

}  // namespace heapgauge::agent
