#include "agent/unwind/plain_walk.h"

namespace heapgauge::agent {

PlainWalk WalkPlain(const Registers& registers, RuleSource source, StackMemory* memory,
                    PlainFrame* frames, uint32_t capacity) {
  memory->StartWalk(registers.sp);
  State state{registers.pc, registers.sp, registers.fp, nullptr, false};
  for (uint32_t count = 0;;) {
    if (count == capacity) return {count, StepResult::kTooDeep};
    frames[count++] = {state.pc, state.sp, state.fp, state.exact};
    const PackedRule packed =
        source == RuleSource::kCache ? FindRule(state.pc, state.exact) : PackedRule{0};
    if (packed != 0 && StepFast(packed, *memory, &state)) [[likely]]
      continue;
    State copy = state;  // so that the other can stay in registers
    const StepResult result = StepSlow(RuleOf(packed, state.pc, state.exact), memory, &copy);
    if (result != StepResult::kStepped) return {count, result};
    state = copy;
  }
}

}  // namespace heapgauge::agent
