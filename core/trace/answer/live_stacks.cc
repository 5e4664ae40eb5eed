#include "core/trace/answer/live_stacks.h"

#include <algorithm>

namespace heapgauge::trace {

Status LiveStacks::GoTo(const Place& place) {
  const auto change = [this](uint32_t stack, uint64_t more, uint64_t less) {
    // The file may be damaged: no number is trusted.
    if (stack < bytes_.size()) bytes_[stack] += more - std::min(bytes_[stack] + more, less);
  };
  const auto apply = [&](uint32_t end) {
    for (; at_.events < end && at_.events < segment_.events.size(); ++at_.events) {
      const Event& event = segment_.events[at_.events];
      if (event.died != kNoIndex && Counts(segment_.blocks[event.died])) {
        change(segment_.blocks[event.died].stack, 0, segment_.blocks[event.died].size);
      }
      if (event.born != kNoIndex && Counts(segment_.blocks[event.born])) {
        change(segment_.blocks[event.born].stack, segment_.blocks[event.born].size, 0);
      }
    }
  };
  while (at_.segment < place.segment && at_.segment < trace_.segments().size()) {
    if (at_.events > 0 || counts_) {
      if (!has_segment_) {
        HG_TRY(trace_.ReadSegment(at_.segment, kOldBlocks | kNewBlocks | kEvents, &segment_));
      }
      apply(UINT32_MAX);
    } else {
      HG_TRY(trace_.ReadSums(at_.segment, &sums_));
      for (const StackSums& s : sums_) {
        if (!s.is_mapping) change(s.stack, s.allocated_bytes, s.freed_bytes);
      }
    }
    at_ = {at_.segment + 1, 0};
    has_segment_ = false;
  }
  if (at_.segment >= trace_.segments().size() || place.events <= at_.events) return {};
  if (!has_segment_) {
    HG_TRY(trace_.ReadSegment(at_.segment, kOldBlocks | kNewBlocks | kEvents, &segment_));
    has_segment_ = true;
  }
  apply(place.events);
  return {};
}

std::vector<uint32_t> LiveStacks::Largest(size_t count) const {
  std::vector<uint32_t> stacks;
  for (uint32_t i = 0; i < bytes_.size(); ++i) {
    if (bytes_[i] > 0) stacks.push_back(i);
  }
  const auto middle = stacks.begin() + static_cast<std::ptrdiff_t>(std::min(count, stacks.size()));
  std::partial_sort(stacks.begin(), middle, stacks.end(), [this](uint32_t a, uint32_t b) {
    return bytes_[a] != bytes_[b] ? bytes_[a] > bytes_[b] : a < b;
  });
  stacks.erase(middle, stacks.end());
  return stacks;
}

}  // namespace heapgauge::trace
