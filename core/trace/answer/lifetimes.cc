#include "core/trace/answer/lifetimes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/trace/answer/fold_segments.h"

namespace heapgauge::trace {
namespace {

constexpr uint32_t kNoSlot = UINT32_MAX;

// What one thread has counted.
class Counts {
 public:
  // `slots` says for each group which histogram it has; empty: none has one.
  Counts(const BlockGroups& groups, const std::vector<uint32_t>& slots, size_t histograms)
      : groups_(&groups), slots_(&slots), sums_(groups.size()), histograms_(histograms) {}

  void Add(const Block& block) {
    const uint32_t group = groups_->Of(block);
    sums_[group].Add(block);
    if (!slots_->empty() && (*slots_)[group] != kNoSlot) {
      histograms_[(*slots_)[group]].Add(block);
    }
    const size_t step = block.is_live() ? kNeverFreedStep : LifetimeStepOf(block.lifetime_ns(0));
    cells_[SizeClassOf(block.size)][step].Add(block.size);
    all_.Add(block);
  }

  void Add(const Counts& other) {
    for (size_t i = 0; i < sums_.size(); ++i) sums_[i].Add(other.sums_[i]);
    for (size_t i = 0; i < histograms_.size(); ++i) histograms_[i].Add(other.histograms_[i]);
    for (size_t i = 0; i < kSizeClasses; ++i) {
      for (size_t j = 0; j < kLifetimeSteps; ++j) cells_[i][j].Add(other.cells_[i][j]);
    }
    all_.Add(other.all_);
  }

  const std::vector<LifetimeSums>& sums() const { return sums_; }
  const std::vector<LifetimeHistogram>& histograms() const { return histograms_; }

  void Fill(LifetimeReport* report) const {
    report->cells = cells_;
    report->histogram = all_;
    report->total = {};
    for (const LifetimeSums& sums : sums_) report->total.Add(sums);
  }

 private:
  const BlockGroups* groups_;
  const std::vector<uint32_t>* slots_;
  std::vector<LifetimeSums> sums_;
  std::vector<LifetimeHistogram> histograms_;
  std::array<std::array<BlockCount, kLifetimeSteps>, kSizeClasses> cells_{};
  LifetimeHistogram all_;
};

Result<Counts> CountAll(const TraceFile& trace, const BlockGroups& groups,
                        const std::vector<uint32_t>& slots, size_t histograms,
                        const Matcher* matcher, ProgressSink* progress) {
  const auto wanted = [matcher](const Block& block) {
    return matcher == nullptr ? !block.is_mapping : matcher->Matches(block);
  };
  OrderedFoldOptions options;
  options.parts = kOldBlocks | kNewBlocks;
  if (matcher != nullptr) options.parts |= matcher->filter().needed_parts();
  options.workers = WorkersFor(
      trace, groups.size() * sizeof(LifetimeSums) + histograms * sizeof(LifetimeHistogram));
  options.progress = progress;
  std::vector<Counts> counts(options.workers, Counts(groups, slots, histograms));
  OrderedFold fold;
  fold.each = [&](size_t worker, size_t, const Segment& segment) {
    ForEachDeath(segment, [&](const Block& block, size_t) {
      if (wanted(block)) counts[worker].Add(block);
    });
  };
  HG_TRY(FoldOrdered(trace, options, fold));
  HG_TRY(trace.ForEachSurvivor([&](const Block& block) {
    if (wanted(block)) counts[0].Add(block);
  }));
  for (size_t i = 1; i < counts.size(); ++i) counts[0].Add(counts[i]);
  return std::move(counts[0]);
}

double SortValue(const LifetimeSums& sums, LifetimeSort sort) {
  switch (sort) {
    case LifetimeSort::kBlocks:
      break;
    case LifetimeSort::kBytes:
      return static_cast<double>(sums.all.bytes);
    case LifetimeSort::kNeverFreed:
      return static_cast<double>(sums.never_freed.bytes);
    case LifetimeSort::kTemporary:
      return static_cast<double>(sums.temporary.blocks);
    case LifetimeSort::kLifetime:
      return sums.mean_ns();
  }
  return static_cast<double>(sums.all.blocks);
}

// Groups with blocks, largest first.
std::vector<uint32_t> Ranked(const std::vector<LifetimeSums>& sums, LifetimeSort sort) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < sums.size(); ++i) {
    if (sums[i].all.blocks != 0) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const double va = SortValue(sums[a], sort);
    const double vb = SortValue(sums[b], sort);
    if (va != vb) return va > vb;
    if (sums[a].all.bytes != sums[b].all.bytes) return sums[a].all.bytes > sums[b].all.bytes;
    return a < b;
  });
  return order;
}

}  // namespace

void LifetimeSums::Add(const Block& block) {
  all.Add(block.size);
  if (block.is_live()) {
    never_freed.Add(block.size);
    return;
  }
  if (block.distance == 0) temporary.Add(block.size);
  lifetime_sum += block.lifetime_ns(0);
}

void LifetimeSums::Add(const LifetimeSums& other) {
  all.Add(other.all);
  never_freed.Add(other.never_freed);
  temporary.Add(other.temporary);
  lifetime_sum += other.lifetime_sum;
}

void LifetimeHistogram::Add(const Block& block) {
  if (block.is_live()) {
    steps[kNeverFreedStep].Add(block.size);
    return;
  }
  const uint64_t lifetime_ns = block.lifetime_ns(0);
  shortest_ns = std::min(shortest_ns, lifetime_ns);
  longest_ns = std::max(longest_ns, lifetime_ns);
  const size_t step = FineStepOf(lifetime_ns);
  ++fine[step];
  steps[StepOfFine(step)].Add(block.size);
}

void LifetimeHistogram::Add(const LifetimeHistogram& other) {
  for (size_t i = 0; i < kLifetimeSteps; ++i) steps[i].Add(other.steps[i]);
  for (size_t i = 0; i < kFineSteps; ++i) fine[i] += other.fine[i];
  shortest_ns = std::min(shortest_ns, other.shortest_ns);
  longest_ns = std::max(longest_ns, other.longest_ns);
}

double LifetimeHistogram::Percentile(double p) const {
  const uint64_t total = std::accumulate(fine.begin(), fine.end(), uint64_t{0});
  if (total == 0) return 0;
  const auto rank = std::clamp<uint64_t>(
      static_cast<uint64_t>(std::ceil(p * static_cast<double>(total))), 1, total);
  uint64_t before = 0;
  size_t i = 0;
  while (before + fine[i] < rank) before += fine[i++];
  const auto begin = static_cast<double>(FineStepBegin(i));
  if (i + 1 == kFineSteps) return begin;
  const auto end = static_cast<double>(FineStepEnd(i));
  // As if the blocks of the step were spread over it.
  const double inside = (static_cast<double>(rank - before) - 0.5) / static_cast<double>(fine[i]);
  return std::clamp(begin + (end - begin) * inside, static_cast<double>(shortest_ns),
                    static_cast<double>(longest_ns));
}

LifetimeSort LifetimeSortOf(std::string_view name) {
  if (name == "bytes") return LifetimeSort::kBytes;
  if (name == "never") return LifetimeSort::kNeverFreed;
  if (name == "temporary") return LifetimeSort::kTemporary;
  if (name == "lifetime") return LifetimeSort::kLifetime;
  return LifetimeSort::kBlocks;
}

BlockCount LifetimeReport::SizeClass(size_t size_class) const {
  BlockCount sum;
  for (const BlockCount& cell : cells[size_class]) sum.Add(cell);
  return sum;
}

Result<LifetimeReport> ReadLifetimes(const TraceFile& trace, const BlockGroups& groups,
                                     const LifetimeRequest& request, ProgressSink* progress) {
  std::vector<uint32_t> slots;
  const bool at_once = groups.size() <= request.max_histograms;
  if (at_once) {
    slots.resize(groups.size());
    std::iota(slots.begin(), slots.end(), 0u);
  }
  HG_ASSIGN(Counts counts, CountAll(trace, groups, slots, slots.size(), request.matcher, progress));
  LifetimeReport report;
  std::vector<uint32_t> ranked = Ranked(counts.sums(), request.sort);
  report.groups = ranked.size();
  ranked.resize(std::min({ranked.size(), request.rows, request.max_histograms}));
  if (!at_once) {
    slots.assign(groups.size(), kNoSlot);
    for (uint32_t i = 0; i < ranked.size(); ++i) slots[ranked[i]] = i;
    HG_ASSIGN(counts, CountAll(trace, groups, slots, ranked.size(), request.matcher, progress));
  }
  counts.Fill(&report);
  for (const uint32_t group : ranked) {
    report.rows.push_back({group, counts.sums()[group], counts.histograms()[slots[group]]});
  }
  return report;
}

}  // namespace heapgauge::trace
