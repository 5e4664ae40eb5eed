// Which blocks of a trace a statement asks for, and these one by one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/query/source.h"
#include "core/query/virtual_table.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::query {

// All conditions that are set hold for the blocks that are asked for. Times in ns.
struct BlockScan {
  Range number;
  Range born;
  Range died;
  // Sorted numbers of blocks that are left out: see ExactMoment.
  std::shared_ptr<const std::vector<uint64_t>> dead_before;
  bool dead = true;  // blocks that died are asked for
  bool live = true;  // those that did not
  Range size;
  std::optional<bool> mapping;
  // Sorted; by number of the stack, by index of the thread.
  std::optional<std::vector<uint32_t>> stacks;
  std::optional<std::vector<uint32_t>> threads;
  std::vector<std::vector<bool>> stack_sets;  // by stack: one bit of each must be set

  bool ends_matter = true;  // when blocks died, and whether
  uint32_t parts = 0;       // kAddresses, kDetails

  bool IsEmpty() const;
  // Conditions on what is known at birth.
  bool MatchesBirth(const trace::Block& block) const;
  bool MatchesEnd(const trace::Block& block) const {
    if (block.is_live()) return live;
    if (!dead || !died.contains(block.death_ns)) return false;
    return dead_before == nullptr ||
           !std::binary_search(dead_before->begin(), dead_before->end(), block.number);
  }
  // Leaves those that were there at a moment.
  void LiveAt(const ExactMoment& moment);
};

// What to read, in this order.
struct ReadPlan {
  struct Step {
    size_t segment = 0;
    uint32_t parts = 0;
  };
  std::vector<Step> steps;
  uint64_t births = 0;  // in the segments that are read for theirs
  // Survivors: not asked for; the blocks that were born in the steps and did not die in them; or
  // the trace's own list of them.
  enum class Survivors { kNone, kLeftOver, kListed } survivors = Survivors::kNone;
};

// Which blocks of a trace a statement asks for, as far as that helps to read less, and which
// segments have to be read for it.
//
// A block is found in the segment in which it was born and in the one in which it died; the latter
// has all that is to know about it. So where the end of blocks matters, they are taken from where
// they died, and those that never did come last. Nothing has to be remembered meanwhile, and what
// died before or after the times in question is not looked at. Where the end does not matter, only
// segments with births in question are read.
//
// Plain data and pure functions.
ReadPlan PlanReading(const BlockScan& scan, const std::vector<trace::SegmentInfo>& segments);

// The blocks of a trace that a scan asks for, one by one: in order of birth where ends do not
// matter, else in order of the segments in which they ended, survivors last.
//
// Memory: one segment, or a bounded part of the survivors. Not synchronised.
class BlockReader {
 public:
  virtual ~BlockReader() = default;
  // The next block, null behind the last. It is valid until the next call.
  virtual Result<const trace::Block*> Next() = 0;
};

// REQUIRES: the source outlives this.
std::unique_ptr<BlockReader> ReadBlocks(QuerySource* source, BlockScan scan);

class TraceBlockReader final : public BlockReader {
 public:
  // REQUIRES: the source is a trace and outlives this.
  TraceBlockReader(QuerySource* source, BlockScan scan);
  Result<const trace::Block*> Next() override;

 private:
  // Looks for the next block in `portion_`, null if there is none left.
  const trace::Block* FindInPortion();
  Status ReadStep();
  Status ReadSurvivors();

  QuerySource* source_;
  BlockScan scan_;
  ReadPlan plan_;
  size_t step_ = 0;  // the next one
  std::shared_ptr<const trace::Segment> segment_;
  const trace::Block* at_ = nullptr;  // in segment_, or in survivors_
  const trace::Block* end_ = nullptr;
  bool in_segments_ = true;
  std::unordered_map<uint64_t, trace::Block> left_over_;
  std::vector<trace::Block> survivors_;
  std::unique_ptr<trace::TraceFile::SurvivorReader> survivor_reader_;
  bool more_survivors_ = true;
};

// Sampled blocks of a profile, which are those that are live.
class ProfileBlockReader final : public BlockReader {
 public:
  // REQUIRES: the source is a profile and outlives this.
  ProfileBlockReader(QuerySource* source, BlockScan scan)
      : source_(source), scan_(std::move(scan)) {}
  Result<const trace::Block*> Next() override;

 private:
  QuerySource* source_;
  BlockScan scan_;
  size_t at_ = 0;
  trace::Block block_;
};

}  // namespace heapgauge::query
