// The blocks of a trace that a scan asks for, one by one: in order of birth where ends do not
// matter, else in order of the segments in which they ended, survivors last.
//
// Memory: one segment, or a bounded part of the survivors. Not synchronised.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/query/block_scan.h"
#include "core/query/source.h"

namespace heapgauge::query {

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
