#include "core/trace/answer/stats_counts.h"

#include <algorithm>

#include "wire/gauge_format.h"

namespace heapgauge::trace {

void GroupStats::Add(const GroupStats& other) {
  all.Add(other.all);
  never_freed.Add(other.never_freed);
  temporary.Add(other.temporary);
  short_large.Add(other.short_large);
  slack_bytes += other.slack_bytes;
}

void RateBin::Add(const RateBin& other) {
  allocations += other.allocations;
  bytes += other.bytes;
  frees += other.frees;
}

void ThreadStats::Add(const ThreadStats& other) {
  allocated.Add(other.allocated);
  frees += other.frees;
  frees_of_others += other.frees_of_others;
  freed_by_others += other.freed_by_others;
  never_freed.Add(other.never_freed);
}

StatsCounts::StatsCounts(const TraceFile& trace, const BlockGroups& groups,
                         const StatsRequest& request)
    : groups_(&groups), request_(&request), small_sizes_(kSmallSizes) {
  constexpr uint64_t kSecond = 1'000'000'000;
  constexpr uint64_t kMaxBins = 1 << 19;  // six days of seconds
  sums_.duration_ns = trace.end_ns();
  // Before it was forked a process allocated nothing.
  uint64_t from = trace.facts().recording.began_ns();
  uint64_t to = sums_.duration_ns;
  if (request.matcher != nullptr) {
    const BlockFilter& filter = request.matcher->filter();
    from = std::max(from, filter.born.from.time_ns);
    to = std::min(to, filter.born.to.time_ns);
  }
  sums_.rates.over_ns = to - std::min(from, to);
  const uint64_t seconds = sums_.duration_ns / kSecond + 1;
  const uint64_t per_bin = (seconds + kMaxBins - 1) / kMaxBins;
  sums_.rates.bin_ns = per_bin * kSecond;
  sums_.rates.bins.resize(seconds / per_bin + 1);
  birth_bins_ = death_bins_ = TimeBins(sums_.rates.bin_ns, sums_.rates.bins.size());
  birth_parts_ = death_parts_ = TimeBins(sums_.duration_ns / kCourseParts + 1, kCourseParts);
  sums_.threads.resize(trace.threads().size() + 1);
  sums_.groups.resize(groups.size());
}

ThreadStats* StatsCounts::ThreadAt(uint32_t index) {
  return &sums_.threads[std::min<size_t>(index, sums_.threads.size() - 1)];
}

// Small sizes are counted one by one, and make the rest of what there is to know about them.
void StatsCounts::CountSize(uint64_t size, uint64_t blocks) {
  if (size < kSmallSizes) [[likely]] {
    small_sizes_[size] += blocks;
  } else {
    CountLarge(size, blocks);
  }
}

void StatsCounts::CountLarge(uint64_t size, uint64_t blocks) {
  const auto known = large_sizes_.find(size);
  if (known != large_sizes_.end()) {
    known->second += blocks;
  } else if (large_sizes_.size() < kMaxLargeSizes) {
    large_sizes_.emplace(size, blocks);
  } else {
    sums_.all_sizes_counted = false;
  }
}

// Every block of the trace: what can be made of other counts is not counted here.
void StatsCounts::Add(const Block& block) {
  const uint64_t size = block.size;
  GroupStats& group = sums_.groups[groups_->Of(block)];
  ThreadStats* thread = ThreadAt(block.thread);
  group.all.Add(size);
  group.slack_bytes += block.slack;
  thread->allocated.Add(size);
  Rates& rates = sums_.rates;
  for (RateBin* bin : {&rates.bins[birth_bins_.At(block.birth_ns)],
                       &rates.course[birth_parts_.At(block.birth_ns)]}) {
    ++bin->allocations;
    bin->bytes += size;
  }
  CountSize(size, 1);
  if (size >= kSmallSizes) sums_.sizes[SizeClassOf(size)].all.Add(size);
  sums_.calls[std::min<size_t>(block.function, kCallKinds - 1)].Add(size);
  sums_.alignments[std::min<size_t>(block.alignment_log2, kAlignments - 1)].Add(size);
  if (block.slack == UINT16_MAX) ++sums_.slack_at_limit;
  if (block.previous != kNoBlock) {
    ++(block.is_mapping ? sums_.pieces : sums_.resizes);
  } else if (block.function == static_cast<uint8_t>(wire::AllocationFunction::kRealloc)) {
    ++sums_.unlinked_reallocs;
  }

  if (block.is_live()) {
    group.never_freed.Add(size);
    sums_.sizes[SizeClassOf(size)].never_freed.Add(size);
    thread->never_freed.Add(size);
    return;
  }
  ++rates.bins[death_bins_.At(block.death_ns)].frees;
  ++rates.course[death_parts_.At(block.death_ns)].frees;
  ThreadStats* freeing = ThreadAt(block.death_thread);
  ++freeing->frees;
  if (block.death_thread != block.thread && block.death_thread != kNoIndex) {
    ++freeing->frees_of_others;
    ++thread->freed_by_others;
  }
  if (block.distance != kForeign && block.distance <= request_->temporary_within) {
    group.temporary.Add(size);
  }
  if (size >= request_->large_bytes && block.lifetime_ns(0) < request_->short_ns) {
    group.short_large.Add(size);
  }
}

// What follows from the counts.
void StatsCounts::SumUp() {
  for (const GroupStats& group : sums_.groups) {
    sums_.allocated.Add(group.all);
    sums_.never_freed.Add(group.never_freed);
    sums_.temporary.Add(group.temporary);
    sums_.short_large.Add(group.short_large);
    sums_.slack_bytes += group.slack_bytes;
  }
  sums_.freed.blocks = sums_.allocated.blocks - sums_.never_freed.blocks;
  sums_.freed.bytes = sums_.allocated.bytes - sums_.never_freed.bytes;
  for (uint64_t size = 0; size < kSmallSizes; ++size) {
    sums_.sizes[SizeClassOf(size)].all.Add({small_sizes_[size], small_sizes_[size] * size});
  }
  sums_.zero_sized.blocks = small_sizes_[0];
}

void StatsCounts::Add(const StatsCounts& other) {
  const TraceStats& o = other.sums_;
  sums_.slack_at_limit += o.slack_at_limit;
  sums_.resizes += o.resizes;
  sums_.unlinked_reallocs += o.unlinked_reallocs;
  sums_.pieces += o.pieces;
  for (size_t i = 0; i < o.rates.bins.size(); ++i) sums_.rates.bins[i].Add(o.rates.bins[i]);
  for (size_t i = 0; i < kCourseParts; ++i) sums_.rates.course[i].Add(o.rates.course[i]);
  for (size_t i = 0; i < kSizeClasses; ++i) {
    sums_.sizes[i].all.Add(o.sizes[i].all);
    sums_.sizes[i].never_freed.Add(o.sizes[i].never_freed);
  }
  for (size_t i = 0; i < kCallKinds; ++i) sums_.calls[i].Add(o.calls[i]);
  for (size_t i = 0; i < kAlignments; ++i) sums_.alignments[i].Add(o.alignments[i]);
  for (size_t i = 0; i < o.threads.size(); ++i) sums_.threads[i].Add(o.threads[i]);
  for (size_t i = 0; i < o.groups.size(); ++i) sums_.groups[i].Add(o.groups[i]);
  sums_.all_sizes_counted = sums_.all_sizes_counted && o.all_sizes_counted;
  for (uint64_t size = 0; size < kSmallSizes; ++size) {
    small_sizes_[size] += other.small_sizes_[size];
  }
  for (const auto& [size, blocks] : other.large_sizes_) CountSize(size, blocks);
}

TraceStats StatsCounts::Take() {
  SumUp();
  std::vector<ExactSize> sizes;
  for (uint64_t size = 0; size < kSmallSizes; ++size) {
    if (small_sizes_[size] != 0) sizes.push_back({size, small_sizes_[size]});
  }
  for (const auto& [size, blocks] : large_sizes_) sizes.push_back({size, blocks});
  sums_.distinct_sizes = sizes.size();
  const size_t kept = std::min(sizes.size(), request_->exact_sizes);
  std::partial_sort(sizes.begin(), sizes.begin() + static_cast<ptrdiff_t>(kept), sizes.end(),
                    [](const ExactSize& a, const ExactSize& b) {
                      return a.blocks != b.blocks ? a.blocks > b.blocks : a.size < b.size;
                    });
  sizes.resize(kept);
  sums_.exact_sizes = std::move(sizes);
  Rates& rates = sums_.rates;
  for (size_t i = 0; i < rates.bins.size(); ++i) {
    if (rates.bins[i].allocations > rates.bins[rates.busiest].allocations) rates.busiest = i;
  }
  return std::move(sums_);
}

}  // namespace heapgauge::trace
