// What a walk is made of: the state of a thread in one of its frames, and the frame as a Walker
// remembers it.
//
// Values only; no ownership, allocation-free, async-signal-safe.
#ifndef HEAPGAUGE_AGENT_UNWIND_FRAME_H_
#define HEAPGAUGE_AGENT_UNWIND_FRAME_H_

#include <cstdint>

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

}  // namespace heapgauge::agent

#endif  // HEAPGAUGE_AGENT_UNWIND_FRAME_H_
