#include "core/trace/answer/stack_totals.h"

#include <algorithm>

namespace heapgauge::trace {

void StackTotal::Add(const StackSums& sums) {
  allocated_blocks += sums.allocated_blocks;
  allocated_bytes += sums.allocated_bytes;
  freed_blocks += sums.freed_blocks;
  freed_bytes += sums.freed_bytes;
  temporary_blocks += sums.temporary_blocks;
  temporary_bytes += sums.temporary_bytes;
  lifetime_byte_ns += sums.lifetime_byte_ns;
}

void StackTotal::AddBirth(const Block& block) {
  ++allocated_blocks;
  allocated_bytes += block.size;
}

void StackTotal::AddDeath(const Block& block) {
  ++freed_blocks;
  freed_bytes += block.size;
  if (block.distance == 0) {
    ++temporary_blocks;
    temporary_bytes += block.size;
  }
  lifetime_byte_ns +=
      static_cast<double>(block.size) * static_cast<double>(block.lifetime_ns(block.death_ns));
}

Status AddSums(const TraceFile& trace, size_t segment, Mappings mappings,
               std::vector<StackSums>* scratch, StackTotals* totals) {
  HG_TRY(trace.ReadSums(segment, scratch));
  for (const StackSums& sums : *scratch) {
    if (mappings && *mappings != sums.is_mapping) continue;
    if (sums.stack < totals->size()) (*totals)[sums.stack].Add(sums);
  }
  return {};
}

namespace {

size_t StacksOf(const TraceFile& trace) { return std::max<size_t>(trace.stack_count(), 1); }

void AddEvents(const Segment& segment, uint32_t count, Mappings mappings, StackTotals* totals) {
  const auto of = [&](const Block& block) {
    const bool counts = !mappings || *mappings == block.is_mapping;
    return counts && block.stack < totals->size() ? &(*totals)[block.stack] : nullptr;
  };
  for (uint32_t i = 0; i < count && i < segment.events.size(); ++i) {
    const Event& event = segment.events[i];
    if (event.died != kNoIndex) {
      const Block& block = segment.blocks[event.died];
      if (StackTotal* total = of(block); total != nullptr) total->AddDeath(block);
    }
    if (event.born != kNoIndex) {
      const Block& block = segment.blocks[event.born];
      if (StackTotal* total = of(block); total != nullptr) total->AddBirth(block);
    }
  }
}

}  // namespace

void SumsIndex::KeepEachSecond() {
  for (size_t i = 0; 2 * i + 1 < kept_.size(); ++i) kept_[i] = kept_[2 * i + 1];
  kept_.resize(kept_.size() / 2);
  step_ *= 2;
}

Result<SumsIndex> SumsIndex::Make(const TraceFile& trace, uint64_t budget, ProgressSink* progress,
                                  SumsIndex before) {
  SumsIndex index;
  const size_t segments = trace.segments().size();
  const uint64_t each = StacksOf(trace) * sizeof(StackTotal);
  const size_t most = static_cast<size_t>(budget / each);
  if (most == 0 || segments == 0) return index;
  index = std::move(before);
  if (index.step_ == 0) index.step_ = (segments + most - 1) / most;
  while (segments / index.step_ > most) index.KeepEachSecond();
  StackTotals totals;
  if (!index.kept_.empty()) totals = *index.kept_.back();
  totals.resize(StacksOf(trace));
  std::vector<StackSums> scratch;
  for (size_t i = index.kept_.size() * index.step_; i < segments; ++i) {
    HG_TRY(AddSums(trace, i, false, &scratch, &totals));
    if ((i + 1) % index.step_ == 0) {
      index.kept_.push_back(std::make_shared<const StackTotals>(totals));
    }
    if (progress != nullptr) progress->Report("adding up the trace", i + 1, segments, "segments");
  }
  return index;
}

const StackTotals* SumsIndex::Nearest(size_t segment, size_t* covered) const {
  const size_t kept = step_ == 0 ? 0 : std::min(segment / step_, kept_.size());
  *covered = kept * step_;
  return kept == 0 ? nullptr : kept_[kept - 1].get();
}

Result<std::vector<StackTotals>> TotalsAt(const TraceFile& trace,
                                          const std::vector<Position>& positions, Mappings mappings,
                                          const SumsIndex& index, EdgeSegments* edges,
                                          ProgressSink* progress) {
  std::vector<StackTotals> result;
  StackTotals totals(StacksOf(trace));
  std::vector<StackSums> scratch;
  size_t covered = 0;
  const size_t whole = positions.empty() ? 0 : positions.back().segment;
  for (const Position& at : positions) {
    const size_t segments = std::min(at.segment, trace.segments().size());
    size_t kept = 0;
    const StackTotals* nearest = index.Nearest(segments, &kept);
    if (nearest != nullptr && kept > covered && mappings == Mappings(false)) {
      totals = *nearest;
      totals.resize(StacksOf(trace));
      covered = kept;
    }
    for (; covered < segments; ++covered) {
      HG_TRY(AddSums(trace, covered, mappings, &scratch, &totals));
      if (progress != nullptr) {
        progress->Report("adding up the trace", covered + 1, whole, "segments");
      }
    }
    result.push_back(totals);
    if (at.event == 0 || at.segment >= trace.segments().size()) continue;
    HG_ASSIGN(const Segment* segment, edges->Get(at.segment));
    AddEvents(*segment, at.event, mappings, &result.back());
  }
  return result;
}

}  // namespace heapgauge::trace
