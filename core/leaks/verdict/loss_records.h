// What a check found, added up: loss records, and a profile of them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/leaks/scan/check.h"
#include "core/leaks/verdict/stack_frames.h"
#include "core/leaks/verdict/suppressions.h"
#include "core/model/estimate.h"
#include "core/model/profile.h"

namespace heapgauge::leaks {

// Finds the suppression that silences a block, by its stack, its kind and how it was allocated.
//
// A matcher remembers what it was asked and is for one thread.
class SuppressionMatcher {
 public:
  // Both must outlive it.
  SuppressionMatcher(const Suppressions& suppressions, const Profile& profile);

  // The first rule that silences blocks of this stack and kind, which `function` allocated
  // (KnownBlock::function); kNone if none does.
  uint32_t Match(NodeId leaf, Kind kind, uint32_t function);

 private:
  static constexpr uint32_t kNotCalled = UINT32_MAX;
  uint32_t Find(const std::vector<StackFrame>& stack, Kind kind, uint32_t function);
  bool Matches(const SuppressionRule& rule, const std::vector<StackFrame>& stack, uint32_t called);
  bool Matches(const SuppressionFrame& pattern, const StackFrame& frame);
  const std::string& ResolvedOf(const Module& module);
  uint32_t LsanRuleOf(const StackFrame& frame);

  const Suppressions& suppressions_;
  const Profile& profile_;
  std::unordered_map<uint64_t, uint32_t> known_;             // by leaf, function and kind
  std::unordered_map<uint32_t, uint32_t> by_frame_;          // the first of LeakSanitizer's rules
  std::vector<uint32_t> lsan_;                               // indexes of these
  std::unordered_map<const Module*, std::string> resolved_;  // paths
};

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

// What a check found, added up as memcheck does it: a loss record is all blocks of one kind that
// were allocated at one stack, with what is lost along with them.
//
// Where all blocks are known the figures are exact. Where they were sampled, each block counts for
// as many as it stands for, and every figure knows how sure it is (core/fold/statistics.h).
//
// Pure functions; memory for the records and four bytes for each block. A check is not changed.
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
//
// `blocks`: it is about numbers of blocks, not bytes. REQUIRES: the check looked at memory, and the
// records are its own.
Profile LostProfile(const Check& check, const LossRecords& losses, bool blocks);

}  // namespace heapgauge::leaks
