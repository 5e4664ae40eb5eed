// A walk without memory of earlier ones: every frame is stepped through. The measure that Walker is
// checked against, and a way to walk without keeping anything.
//
// Any thread, no shared state but the rule cache (if asked for). Allocation-free,
// async-signal-safe.
#pragma once

#include <cstdint>

#include "agent/unwind/stack_memory.h"
#include "agent/unwind/step.h"

namespace heapgauge::agent {

struct PlainFrame {
  uintptr_t pc;
  uintptr_t sp;
  uintptr_t fp;
  bool exact;
};

struct PlainWalk {
  uint32_t count;  // frames written, innermost first
  StepResult end;  // why it ended
  bool complete() const { return IsComplete(end); }
};

enum class RuleSource { kCache, kEvaluate };

// Walks from `registers` and writes at most `capacity` frames, innermost first.
PlainWalk WalkPlain(const Registers& registers, RuleSource source, StackMemory* memory,
                    PlainFrame* frames, uint32_t capacity);

}  // namespace heapgauge::agent
