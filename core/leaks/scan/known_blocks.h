// The live blocks of a program as far as they are known, and what is known of their stacks.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/profile.h"

namespace heapgauge::leaks {

// What is known of a stack beside its live blocks: how much came and went. Growth is judged by it.
//
// Plain data.
struct StackHistory {
  // Since the recording began or was reset. Samples where it is sampled, blocks where it is exact.
  double taken = 0;
  double freed = 0;  // of these
  double allocated_bytes = 0;
  double freed_bytes = 0;
  // Of an exact trace: the least that was live in each of as many parts of equal length as there
  // are, the last one ending now. Empty where not known.
  std::vector<uint64_t> least_live;
};

inline constexpr uint32_t kNoBlock = UINT32_MAX;
// KnownBlock::function, if it is not known by which one it was allocated.
inline constexpr uint32_t kNoFunction = 255;

struct KnownBlock {
  uint64_t address = 0;
  uint64_t size = 0;         // as requested; 0 counts as one byte, as an address may point to it
  uint64_t birth_ns = 0;     // since the recording began
  uint32_t stack = 0;        // index in KnownBlocks::stacks
  uint32_t thread : 24 = 0;  // kernel id (Linux has no more than 2^22), 0 unknown
  uint32_t function : 8 = kNoFunction;  // wire::AllocationFunction that allocated it
  double weight = 1;  // how many blocks of this size and stack it stands for; 1 where exact
};

// Why blocks that were recorded one by one are not all of the live ones, and no others.
enum class Gap : uint8_t {
  kNone,
  kEvents,  // some were lost: blocks here may be freed, others be live
  kYoung,   // what lived short was left out: young ones are not here
  kEnd,     // the trace breaks off: what was freed later is not known
};

// The live blocks of a program as far as they are known: all of them where it is traced, those that
// were sampled otherwise.
//
// Plain data, owned by whoever made it.
struct KnownBlocks {
  std::vector<KnownBlock> blocks;  // by address, without overlaps
  // Names come with the profile once it is symbolized; its rows are of no interest here.
  Profile profile;
  struct Stack {
    NodeId leaf = kNone;  // kNone: unknown
    LabelSetId labels = kNone;
  };
  std::vector<Stack> stacks;
  std::vector<StackHistory> histories;  // of each stack; empty where nothing is known but blocks
  bool exact = false;                   // every live block is here, with weight 1
  Gap gap = Gap::kNone;                 // why not, where each was recorded and has weight 1
  uint64_t now_ns = 0;                  // on the clock of KnownBlock::birth_ns

  // They stand for others as well, and amounts are estimates.
  bool sampled() const { return !exact && gap == Gap::kNone; }
};

}  // namespace heapgauge::leaks
