// Works out the few DWARF expressions that occur in unwind rules, not as numbers but as "register
// plus constant", because rules are made once per code address and used with many register values.
//
// Two shapes exist in practice. gcc's realigned frames say "the word at fp - n", and the linker's
// description of the PLT says "sp + 8, or + 16 behind the push", a comparison on the code address,
// which is known. Anything else is kUnknown and ends a walk. No state; allocation-free,
// async-signal-safe.
#pragma once

#include <cstdint>

#include "agent/unwind/eh_frame.h"

namespace heapgauge::agent {

// base + offset, or the word at base + offset.
struct LinearValue {
  enum class Base : uint8_t { kUnknown, kConstant, kSp, kFp, kCfa };
  Base base = Base::kUnknown;
  bool dereferenced = false;
  int64_t offset = 0;
};

// Evaluates `expression` for code address `pc`. With `push_cfa` the CFA is on the stack at the
// start, as it is for the places of registers. An unusable expression gives kUnknown.
LinearValue EvaluateExpression(MappedByteReader expression, uintptr_t pc, bool push_cfa);

}  // namespace heapgauge::agent
