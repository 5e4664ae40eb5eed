// One step of a walk, and what a walk is made of: the state of a thread in one of its frames, the
// frame as a Walker remembers it, and the rolling hash that names a stack.
//
// A step leads from the state in a frame to the state in its caller. The next state is a function
// of the state, the rule, and the words that the rule makes us read, nothing else. Walker's memory
// of old stacks rests on that.
//
// Values only. Reads only memory that StackMemory allows. Allocation-free, async-signal-safe.
#pragma once

#include <cstdint>

#include "agent/unwind/rule.h"
#include "agent/unwind/rule_lookup.h"
#include "agent/unwind/stack_memory.h"

namespace heapgauge::agent {

// The state of the caller right after its call returns: pc is the return address, sp the stack
// pointer behind it, fp the frame pointer register (whatever the program keeps in it).
struct Registers {
  uintptr_t pc;
  uintptr_t sp;
  uintptr_t fp;
};

// Flags of a frame.
inline constexpr uint16_t kFrameExactPc = 1;   // pc was interrupted by a signal, no call before it
inline constexpr uint16_t kFrameRestorer = 2;  // code that returns from a signal; pc is its start
// For the Walker:
inline constexpr uint16_t kFrameUsesFp = 4;     // its step, or one further out, needs this fp
inline constexpr uint16_t kFrameChecksPc = 8;   // its step is the same if the return address is
inline constexpr uint16_t kFrameChecksFp = 16;  // if the caller's saved fp is, too
inline constexpr uint16_t kFrameChecks = kFrameChecksPc | kFrameChecksFp;

// A frame as a Walker remembers it.
struct WalkedFrame {
  uintptr_t pc;
  uintptr_t sp;
  uintptr_t fp;              // right only with kFrameUsesFp
  const uintptr_t* fp_slot;  // where fp was read last on the way here
  uint64_t hash;             // of all frames from the root to this one
  uint16_t flags;
  uint16_t run;  // how many steps outwards from here are checked as the first one is
};
static_assert(sizeof(WalkedFrame) == 48);

// What the hash of the outermost frame starts from. A stack whose outer frames are missing is not
// the same stack as a whole one with the same frames.
inline constexpr uint64_t kWholeStackSeed = 0x243f6a8885a308d3u;
inline constexpr uint64_t kCutStackSeed = 0x13198a2e03707344u;

// The hash of a stack to which a frame is added at the inner end: one mix for each frame, from the
// outermost inwards. Equal stacks have equal hashes, and a table lookup by the hash replaces a walk
// down a trie. It has 64 bits and no key: it distinguishes stacks, it does not defend against
// anybody.
inline uint64_t MixFrame(uint64_t hash, uintptr_t pc, bool exact) {
  // The multiplication of pc is off the critical path; the wide one folds every bit into every
  // other.
  const uint64_t spread = (uint64_t{pc} | uint64_t{exact} << 63) * 0xd6e8feb86659fd93u;
  const uint64_t mixed = hash ^ spread;
  constexpr uint64_t kFactor = 0xa0761d6478bd642fu;
  const auto product = static_cast<unsigned __int128>(mixed) * kFactor;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

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

// The state of a walk in one frame.
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
