// What a check found, added up: loss records, and a profile of them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/leaks/scan/check.h"
#include "core/model/estimate.h"
#include "core/model/profile.h"

namespace heapgauge::leaks {

// What a check found, added up as memcheck does it: a loss record is all blocks of one kind that
// were allocated at one stack, with what is lost along with them.
//
// Where all blocks are known the figures are exact. Where they were sampled, each block counts for
// as many as it stands for, and every figure knows how sure it is (core/fold/statistics.h).
//
// Pure functions; memory for the records and four bytes for each block. A check is not changed.

class Suppressions;

// Blocks added up.
struct Amount {
  Estimate bytes;
  Estimate blocks;
  uint64_t known = 0;  // blocks that were really seen

  void Add(const KnownBlock& block);
  void Add(const Amount& other);
};

// How many frames have to be the same for two stacks to be one: the innermost 2, 4, or all. Frames
// that only allocate are not counted.
enum class Resolution : uint8_t { kLow, kMedium, kHigh };

struct LossRecord {
  Kind kind = Kind::kDefinite;
  uint32_t suppression = kNone;  // the rule that silences it, an index of Suppressions::rules()
  uint32_t number = 0;           // from 1, in the order of LossRecords::records
  uint32_t stack = 0;            // an index of KnownBlocks::stacks: that of its first block
  uint32_t block = kNoBlock;     // one of its blocks, the largest
  Amount own;                    // its blocks
  Amount indirect;               // what is lost because they are; also in records of its own
  Amount stack_total;            // all live blocks of the stack, of whatever kind
  // Of all its blocks, if they were reached by pointers into the middle that count as good ones.
  Heuristic heuristic = Heuristic::kNone;
  uint64_t oldest_birth_ns = UINT64_MAX;
  uint64_t newest_birth_ns = 0;

  double total_bytes() const { return own.bytes.value + indirect.bytes.value; }
  bool suppressed() const { return suppression != kNone; }
};

struct LossRecords {
  // By bytes, the smallest first: the last one is what matters most.
  std::vector<LossRecord> records;
  std::vector<uint32_t> record_of;  // of each block: an index of `records`

  // What is suppressed is in none of the kinds.
  std::array<Amount, kKinds> kinds{};
  std::array<Amount, kHeuristics> heuristics{};  // of what is reachable
  Amount suppressed;
  Amount in_use;

  const Amount& of(Kind kind) const { return kinds[static_cast<size_t>(kind)]; }
};

struct LossOptions {
  Resolution resolution = Resolution::kHigh;
  const Suppressions* suppressions = nullptr;
};

// Of a check that did not look at memory, all blocks are taken for reachable.
LossRecords MakeLossRecords(const Check& check, const LossOptions& options);

// Age at the time of the check, 0 if its blocks have no times.
uint64_t OldestAge(const Check& check, const LossRecord& record);
uint64_t NewestAge(const Check& check, const LossRecord& record);

// What a check found lost, as a profile: flame graphs and tables show it as any other figure. A row
// is a stack with lost blocks (definitely or indirectly, and not suppressed); its types are what it
// holds (inuse_objects, inuse_space) and what of that is lost (lost_objects, lost_space).
//
// A pure function.

// `blocks`: it is about numbers of blocks, not bytes. REQUIRES: the check looked at memory, and the
// records are its own.
Profile LostProfile(const Check& check, const LossRecords& losses, bool blocks);

}  // namespace heapgauge::leaks
