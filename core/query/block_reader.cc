#include "core/query/block_reader.h"

#include <algorithm>

namespace heapgauge::query {
namespace {

using trace::SegmentInfo;

// So many blocks may be remembered until they are known to be survivors: some 100 MB at the most.
constexpr uint64_t kMostLeftOver = 1 << 20;

bool BirthsMeet(const BlockScan& scan, const SegmentInfo& s) {
  return s.births != 0 && scan.born.meets(s.begin_ns, s.end_ns) &&
         scan.number.meets(s.first_block, s.first_block + s.births - 1);
}

bool Has(const std::optional<std::vector<uint32_t>>& list, uint32_t value) {
  return !list || std::binary_search(list->begin(), list->end(), value);
}

}  // namespace

bool BlockScan::IsEmpty() const {
  return number.empty() || born.empty() || size.empty() || (!live && (!dead || died.empty())) ||
         (stacks && stacks->empty()) || (threads && threads->empty());
}

bool BlockScan::MatchesBirth(const trace::Block& block) const {
  if (!number.contains(block.number) || !born.contains(block.birth_ns) ||
      !size.contains(block.size) || (mapping && *mapping != block.is_mapping)) {
    return false;
  }
  if (!Has(stacks, block.stack) || !Has(threads, block.thread)) return false;
  for (const std::vector<bool>& set : stack_sets) {
    if (block.stack >= set.size() || !set[block.stack]) return false;
  }
  return true;
}

void BlockScan::LiveAt(const ExactMoment& moment) {
  born.AtMost(moment.time_ns);
  if (moment.dead != nullptr) {
    if (moment.first_unborn == 0) return number.Nothing();
    number.AtMost(moment.first_unborn - 1);
    died.AtLeast(moment.time_ns);
    dead_before = moment.dead;
  } else if (moment.time_ns == UINT64_MAX) {
    dead = false;
  } else {
    died.AtLeast(moment.time_ns + 1);
  }
}

ReadPlan PlanReading(const BlockScan& scan, const std::vector<SegmentInfo>& segments) {
  ReadPlan plan;
  if (scan.IsEmpty()) return plan;
  Range numbers;  // of the blocks that can be meant
  numbers.Nothing();
  for (const SegmentInfo& s : segments) {
    if (!BirthsMeet(scan, s)) continue;
    plan.births += s.births;
    if (numbers.empty()) numbers.low = s.first_block;
    numbers.high = s.first_block + s.births - 1;
  }
  if (numbers.empty()) {
    plan.births = 0;
    return plan;
  }
  numbers.AtLeast(scan.number.low);
  numbers.AtMost(scan.number.high);

  if (!scan.ends_matter) {
    for (size_t i = 0; i < segments.size(); ++i) {
      if (BirthsMeet(scan, segments[i])) {
        plan.steps.push_back({i, trace::kNewBlocks | scan.parts});
      }
    }
    return plan;
  }

  const uint64_t all = segments.back().first_block + segments.back().births;
  if (scan.live) {
    // The list of survivors is read as a whole, so for a small part of the blocks it is less work
    // to see which of them die.
    plan.survivors = plan.births <= kMostLeftOver && plan.births <= all / 2
                         ? ReadPlan::Survivors::kLeftOver
                         : ReadPlan::Survivors::kListed;
  }
  const bool left_over = plan.survivors == ReadPlan::Survivors::kLeftOver;
  for (size_t i = 0; i < segments.size(); ++i) {
    const SegmentInfo& s = segments[i];
    const bool deaths_meet =
        s.deaths != 0 && scan.dead && !scan.died.empty() && scan.died.meets(s.begin_ns, s.end_ns);
    uint32_t parts = 0;
    if (BirthsMeet(scan, s) && (left_over || (deaths_meet && s.deaths > s.old_deaths))) {
      parts |= trace::kNewBlocks;
    }
    if (s.old_deaths != 0 && (left_over || deaths_meet) && s.oldest_birth <= numbers.high &&
        s.first_block > numbers.low) {
      parts |= trace::kOldBlocks;
    }
    if (parts != 0) plan.steps.push_back({i, parts | scan.parts});
  }
  return plan;
}

namespace {

using trace::Block;

}  // namespace

TraceBlockReader::TraceBlockReader(QuerySource* source, BlockScan scan)
    : source_(source),
      scan_(std::move(scan)),
      plan_(PlanReading(scan_, source->trace()->segments())) {}

Result<const Block*> TraceBlockReader::Next() {
  for (;;) {
    if (const Block* block = FindInPortion()) return block;
    if (step_ < plan_.steps.size()) {
      HG_TRY(ReadStep());
      continue;
    }
    segment_.reset();
    if (plan_.survivors == ReadPlan::Survivors::kNone || !more_survivors_) return nullptr;
    HG_TRY(ReadSurvivors());
  }
}

const Block* TraceBlockReader::FindInPortion() {
  if (!in_segments_) {
    return at_ == end_ ? nullptr : at_++;  // they were looked at when they were gathered
  }
  const bool left_over = plan_.survivors == ReadPlan::Survivors::kLeftOver;
  while (at_ != end_) {
    const Block& block = *at_++;
    if (!scan_.MatchesBirth(block)) continue;
    if (!scan_.ends_matter) return &block;
    if (block.is_live()) {  // it outlived the segment: met again where it dies, or at the end
      if (left_over) left_over_.emplace(block.number, block);
      continue;
    }
    if (left_over) left_over_.erase(block.number);
    if (scan_.MatchesEnd(block)) return &block;
  }
  return nullptr;
}

Status TraceBlockReader::ReadStep() {
  HG_TRY(source_->CheckStop());
  source_->Report("reading the trace", step_, plan_.steps.size(), "segments");
  const ReadPlan::Step& step = plan_.steps[step_++];
  segment_.reset();
  HG_ASSIGN(segment_, source_->segments()->Read(step.segment, step.parts));
  at_ = segment_->blocks.data();
  end_ = at_ + segment_->blocks.size();
  // From the cache there may be more than was asked for.
  const uint64_t first_new = segment_->info.first_block;
  const Block* new_ones =
      std::partition_point(at_, end_, [&](const Block& b) { return b.number < first_new; });
  if ((step.parts & trace::kOldBlocks) == 0) at_ = new_ones;
  if ((step.parts & trace::kNewBlocks) == 0) end_ = new_ones;
  // A range of numbers is a range of places among the new ones.
  if ((step.parts & trace::kOldBlocks) == 0) {
    at_ = std::partition_point(at_, end_,
                               [&](const Block& b) { return b.number < scan_.number.low; });
    end_ = std::partition_point(at_, end_,
                                [&](const Block& b) { return b.number <= scan_.number.high; });
  }
  return {};
}

Status TraceBlockReader::ReadSurvivors() {
  HG_TRY(source_->CheckStop());
  in_segments_ = false;
  survivors_.clear();
  if (plan_.survivors == ReadPlan::Survivors::kLeftOver) {
    more_survivors_ = false;
    for (const auto& [number, block] : left_over_) survivors_.push_back(block);
    left_over_.clear();
    std::sort(survivors_.begin(), survivors_.end(),
              [](const Block& a, const Block& b) { return a.number < b.number; });
  } else {
    source_->Report("reading the blocks that were never freed", 0, 0, "");
    if (survivor_reader_ == nullptr) survivor_reader_ = source_->trace()->ReadSurvivors();
    HG_ASSIGN(more_survivors_, survivor_reader_->Next(&survivors_));
    std::erase_if(survivors_, [&](const Block& block) { return !scan_.MatchesBirth(block); });
  }
  at_ = survivors_.data();
  end_ = at_ + survivors_.size();
  return {};
}

Result<const Block*> ProfileBlockReader::Next() {
  HG_ASSIGN(const Profile* profile, source_->StacksOnly());
  while (at_ < profile->blocks.size()) {
    const heapgauge::SampledBlock& from = profile->blocks[at_];
    block_ = {};
    block_.number = at_++;
    block_.birth_ns = from.birth_ns;
    block_.address = from.address;
    block_.size = from.size;
    block_.stack = from.row == kNone ? 0 : from.row + 1;
    block_.thread = source_->ThreadIndex(from.thread);
    if (scan_.MatchesBirth(block_) && scan_.MatchesEnd(block_)) return &block_;
  }
  return nullptr;
}

std::unique_ptr<BlockReader> ReadBlocks(QuerySource* source, BlockScan scan) {
  if (source->trace() == nullptr) {
    return std::make_unique<ProfileBlockReader>(source, std::move(scan));
  }
  return std::make_unique<TraceBlockReader>(source, std::move(scan));
}

}  // namespace heapgauge::query
