// What a leak check knows of each block while it goes on: reached or not, by which pointer, and
// pointers into the middle of blocks that must be judged once all others were followed.
//
// Owned by one thread. Some 19 bytes for each block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/large_memory.h"
#include "core/leaks/scan/block_bits.h"
#include "core/leaks/scan/block_index.h"
#include "core/leaks/scan/check.h"
#include "core/leaks/scan/heuristics.h"
#include "core/leaks/scan/memory_image.h"

namespace heapgauge::leaks {

// Where a pointer is: in a block, or outside of all; `address` of a register is its number.
struct Origin {
  uint64_t address = 0;
  uint32_t block = kNoBlock;
  bool is_register = false;
};

class Marks {
 public:
  Marks(const MemoryImage& image, const BlockIndex& index, const Roots& roots, uint32_t heuristics);

  bool reached(uint32_t block) const { return reached_.Has(block); }
  // Nothing that points to it changes what is known of it.
  bool settled(uint32_t block) const { return settled_.Has(block); }
  // The same as a number: 1 if a pointer to this block may change anything, otherwise 0.
  uint64_t Matters(uint32_t block) const { return settled_.Bit(block) ^ 1; }
  // A number that is no block's, and always settled.
  uint32_t none() const { return static_cast<uint32_t>(index_.size()); }
  void Prefetch(uint32_t block) const { __builtin_prefetch(&verdicts_[block], 1); }

  // A root, or memory that is reached, points to this place of the block.
  void Reach(uint32_t block, Place place, const Origin& origin) {
    if (settled(block)) return;
    if (reached(block)) {
      if (place == Place::kStart) NeedsNoHeuristic(block);
    } else if (place == Place::kStart) {
      Mark(block, Heuristic::kNone, origin);
    } else {
      AddInterior(block, place, origin);
    }
  }

  // What its first words say. Those that are needed to judge pointers must be told before: of
  // BlocksToKnow(), in order, without repeats.
  void SetFacts(uint32_t block, BlockFacts facts) { facts_[block] = facts | kFactsKnown; }
  std::vector<uint32_t> BlocksToKnow() const;

  // Judges the pointers into blocks that are not reached by others. Whether any block was reached
  // by one of them; then there may be new ones to judge once that was followed.
  bool JudgeInteriors();
  // Whether there are so many that those which cannot matter should be forgotten.
  bool has_many_interiors() const { return interiors_.size() >= trim_at_; }
  void TrimInteriors();

  // What the block points to is known from now on: it is to be followed as soon as the block is
  // reached. Others are left to whoever comes to them. REQUIRES: it is not reached.
  void FollowWhenReached(uint32_t block) { followable_.Set(block); }
  // The same for all blocks.
  void FollowAllWhenReached() { followable_.SetAll(); }
  // These are to be followed, in the order in which they were reached. More may be added meanwhile.
  size_t to_follow_count() const { return to_follow_count_; }
  uint32_t to_follow(size_t i) const { return to_follow_[i]; }
  // All of them were.
  void ForgetToFollow() { to_follow_count_ = 0; }

  // Once nothing more can be reached. A block that is not reached gets possible; false if it is
  // either already.
  bool MarkPossible(uint32_t block, const Origin& origin) {
    if (reached(block) || possible_.Has(block)) return false;
    SetPossible(block, origin);
    return true;
  }
  // All blocks that interior pointers led to.
  void MarkInteriorsPossible(std::vector<uint32_t>* marked);

  // Those that are neither.
  BlockBits LostBlocks() const { return BlockBits::InNeither(reached_, possible_, index_.size()); }

  std::vector<Verdict>& verdicts() { return verdicts_; }

 private:
  // Bits of state_: bit n says that a pointer to Place n was seen. These are all but the first.
  static constexpr uint8_t kInteriors = 0x1e;
  static constexpr BlockFacts kFactsKnown = 128;
  struct Interior {
    Origin origin;
    uint32_t block;
    Place place;
  };

  void Mark(uint32_t block, Heuristic heuristic, const Origin& origin) {
    reached_.Set(block);
    if (heuristic == Heuristic::kNone) settled_.Set(block);
    SetVerdict(block, Kind::kReachable, heuristic, origin);
    // Whether it is followable a processor could not guess.
    to_follow_[to_follow_count_] = block;
    to_follow_count_ += followable_.Bit(block);
  }
  // Only writes, so that nobody waits for what was there.
  void SetVerdict(uint32_t block, Kind kind, Heuristic heuristic, const Origin& origin) {
    Verdict verdict;
    verdict.set_pointer(origin.address);
    verdict.kind = kind;
    verdict.heuristic = heuristic;
    verdict.by_register = origin.is_register;
    verdict.has_pointer = true;
    verdict.from = origin.block;
    verdicts_[block] = verdict;
  }
  void NeedsNoHeuristic(uint32_t block);
  void AddInterior(uint32_t block, Place place, const Origin& origin);
  void SetPossible(uint32_t block, const Origin& origin);
  bool IsIdle(uint32_t block, Place place) const {
    return (facts_[block] & kFactsKnown) != 0 && !heuristics_.MayCount(facts_[block], place);
  }
  bool PointsTo(const Interior& interior, uint64_t* address) const;

  const MemoryImage& image_;
  const BlockIndex& index_;
  const Roots& roots_;
  Heuristics heuristics_;
  ZeroedBytes state_;
  BlockBits reached_;
  BlockBits settled_;
  BlockBits possible_;
  ZeroedBytes facts_;  // BlockFacts
  std::vector<Verdict> verdicts_;
  BlockBits has_interiors_;
  std::vector<Interior> interiors_;
  size_t trim_at_ = 1 << 16;
  HugeArray<uint32_t> to_follow_;  // each block is here once at most
  size_t to_follow_count_ = 0;
  BlockBits followable_;
};

}  // namespace heapgauge::leaks
