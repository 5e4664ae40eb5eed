// The rolling hash that names a stack: from the root outwards in, one mix for each frame. Equal
// stacks have equal hashes, and a table lookup by it replaces a walk down a trie.
//
// 64 bits, not keyed: it tells stacks apart, it does not defend against anybody. Pure functions.
#ifndef HEAPGAUGE_AGENT_UNWIND_STACK_HASH_H_
#define HEAPGAUGE_AGENT_UNWIND_STACK_HASH_H_

#include <cstdint>

namespace heapgauge::agent {

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

#endif  // HEAPGAUGE_AGENT_UNWIND_STACK_HASH_H_
