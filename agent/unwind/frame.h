// What a walk is made of: the state of a thread in one of its frames, and the frame as a Walker
// remembers it.
//
// Values only; no ownership, allocation-free, async-signal-safe.
#ifndef HEAPGAUGE_AGENT_UNWIND_FRAME_H_
#define HEAPGAUGE_AGENT_UNWIND_FRAME_H_

#include <cstdint>

#include "agent/unwind/rule.h"

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
inline constexpr uint16_t kFrameReadsFp = 4;    // its step needs fp
inline constexpr uint16_t kFramePassesFp = 8;   // the caller's fp is this one's
inline constexpr uint16_t kFrameUsesFp = 16;    // its step, or one further out, needs this fp
inline constexpr uint16_t kFrameFastStep = 32;  // simple rule, and all it reads is on the own stack

struct Frame {
  uintptr_t pc;
  uintptr_t sp;
  uintptr_t fp;
  const uintptr_t* fp_slot;  // where fp was read; the field above if no step read it
  uint64_t hash;             // of all frames from the root to this one
  PackedRule rule;           // how to get to the caller; kEmpty: evaluate each time
  uint16_t flags;
  uint16_t fast_run;  // how many steps outwards from here are kFrameFastStep
};
static_assert(sizeof(Frame) == 48);

}  // namespace heapgauge::agent

#endif  // HEAPGAUGE_AGENT_UNWIND_FRAME_H_
