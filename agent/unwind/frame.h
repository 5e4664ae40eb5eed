// What a walk is made of: the state of a thread in one of its frames, the frame as a Walker
// remembers it, and the rolling hash that names a stack: from the root outwards in, one mix for
// each frame. Equal stacks have equal hashes, and a table lookup by it replaces a walk down a trie.
// It is of 64 bits and not keyed: it tells stacks apart, it does not defend against anybody.
//
// Values only; no ownership, allocation-free, async-signal-safe.
#pragma once

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

// What the hash of the outermost frame starts from. A stack whose outer frames are missing is not
// the same stack as a whole one with the same frames.
inline constexpr uint64_t kWholeStackSeed = 0x243f6a8885a308d3u;
inline constexpr uint64_t kCutStackSeed = 0x13198a2e03707344u;

// The hash of a stack to which a frame is added at the inner end.
inline uint64_t MixFrame(uint64_t hash, uintptr_t pc, bool exact) {
  // The multiplication of pc is off the critical path; the wide one folds every bit into every
  // other.
  const uint64_t spread = (uint64_t{pc} | uint64_t{exact} << 63) * 0xd6e8feb86659fd93u;
  const uint64_t mixed = hash ^ spread;
  constexpr uint64_t kFactor = 0xa0761d6478bd642fu;
  const auto product = static_cast<unsigned __int128>(mixed) * kFactor;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

}  // namespace heapgauge::agent
