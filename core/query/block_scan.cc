#include "core/query/block_scan.h"

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

}  // namespace heapgauge::query
