#include "core/memory/accounting.h"

#include <algorithm>
#include <cmath>

namespace heapgauge {
namespace {

// In front of each block of glibc's.
constexpr double kGlibcHeaderBytes = 8;

uint64_t Whole(double value) {
  if (!(value > 0)) return 0;
  return value < 0x1p62 ? static_cast<uint64_t>(value + 0.5) : uint64_t{1} << 62;
}

bool Has(const std::optional<wire::AllocatorStatistics>& statistics, uint32_t bit) {
  return statistics && (statistics->mask & bit) != 0;
}

uint64_t& At(Accounting* a, Part part) { return a->parts[static_cast<size_t>(part)]; }

// Takes up to `wanted` out of `left`.
uint64_t Take(uint64_t wanted, uint64_t* left) {
  const uint64_t taken = std::min(wanted, *left);
  *left -= taken;
  return taken;
}

double MetadataBytes(wire::Allocator allocator, const LiveFigures& live,
                     const std::optional<wire::AllocatorStatistics>& statistics) {
  if (Has(statistics, kHasMetadata)) return static_cast<double>(statistics->metadata_bytes);
  return allocator == wire::Allocator::kGlibc ? kGlibcHeaderBytes * live.objects : 0;
}

Interval LiveRange(const LiveFigures& live) {
  const bool nothing = live.samples == 0 && live.interval > 1;
  return Interval95(nothing ? NothingSampled(static_cast<double>(live.interval)) : live.bytes);
}

// Splits what the heap holds in memory. Returns what is left of it: kept free by the allocator.
uint64_t SplitHeap(uint64_t heap, const LiveFigures& live, wire::Allocator allocator,
                   const std::optional<wire::AllocatorStatistics>& statistics, Accounting* a) {
  const double metadata = MetadataBytes(allocator, live, statistics);
  double resident = live.resident;
  double not_sampled = 0;
  if (Has(statistics, kHasInUse)) {
    // glibc counts its headers as in use, jemalloc its book-keeping apart.
    double in_use = static_cast<double>(statistics->in_use_bytes) - live.rounding;
    if (allocator == wire::Allocator::kGlibc) in_use -= metadata;
    const double corrected = std::clamp(in_use, a->live_range.low, a->live_range.high);
    resident = std::max(resident + corrected - live.bytes.value, 0.0);
    not_sampled = std::max(in_use - a->live_range.high, 0.0);
  }
  uint64_t left = heap;
  At(a, Part::kMetadata) = Take(Whole(metadata), &left);
  At(a, Part::kRounding) = Take(Whole(live.rounding_resident), &left);
  At(a, Part::kLive) = Take(Whole(resident), &left);
  a->live_is_capped = At(a, Part::kLive) < Whole(resident);
  At(a, Part::kNotSampled) = Take(Whole(not_sampled), &left);
  return left;
}

}  // namespace

const char* PartKey(Part part) {
  constexpr const char* kKeys[kParts] = {"live",
                                         "rounding",
                                         "not_sampled",
                                         "allocator_metadata",
                                         "allocator_free",
                                         "stacks",
                                         "mmap",
                                         "program",
                                         "files",
                                         "shared",
                                         "agent",
                                         "kernel",
                                         "rest"};
  return kKeys[static_cast<size_t>(part)];
}

Accounting Account(const AccountingInput& input) {
  Accounting a;
  a.live = input.live;
  a.live_range = LiveRange(input.live);
  std::array<uint64_t, kOwners> owned{};
  for (const Piece& piece : input.pieces) {
    owned[static_cast<size_t>(piece.owner)] += piece.resident;
    a.resident += piece.resident;
  }
  a.resident += input.not_listed_resident;
  const auto of = [&](Owner owner) { return owned[static_cast<size_t>(owner)]; };
  uint64_t unknown = of(Owner::kUnknown);
  At(&a, Part::kAgent) = of(Owner::kAgent);
  if (!input.agent_ranges_known) {
    At(&a, Part::kAgent) += Take(input.agent_private_bytes, &unknown);
  }
  // The allocator may hold mappings without a single sampled block in them.
  const auto& statistics = input.statistics;
  uint64_t heap_size = 0;
  for (const Piece& piece : input.pieces) {
    if (piece.owner == Owner::kHeap) heap_size += piece.end - piece.start;
  }
  uint64_t told = 0;
  if (Has(statistics, kHasResident)) {
    told = statistics->resident_bytes - std::min(statistics->resident_bytes, of(Owner::kHeap));
  } else if (Has(statistics, kHasMapped)) {
    told = statistics->mapped_bytes - std::min(statistics->mapped_bytes, heap_size);
  }
  if (!input.heap_is_complete) a.heap_by_statistics = Take(told, &unknown);
  a.heap_resident = of(Owner::kHeap) + a.heap_by_statistics;
  At(&a, Part::kFree) = SplitHeap(a.heap_resident, input.live, input.allocator, statistics, &a);
  At(&a, Part::kStacks) = of(Owner::kStack);
  At(&a, Part::kMapped) = of(Owner::kMapped);
  At(&a, Part::kProgram) = of(Owner::kProgram);
  At(&a, Part::kFiles) = of(Owner::kFile);
  At(&a, Part::kShared) = of(Owner::kShared);
  At(&a, Part::kKernel) = of(Owner::kKernel);
  At(&a, Part::kRest) = unknown + input.not_listed_resident;
  return a;
}

Accounting AccountCoarsely(const ProcessStatus& status, const LiveFigures& live,
                           wire::Allocator allocator,
                           const std::optional<wire::AllocatorStatistics>& statistics,
                           uint64_t agent_private_bytes, uint64_t agent_file_bytes,
                           uint64_t recorded_bytes) {
  Accounting a;
  a.coarse = true;
  a.live = live;
  a.live_range = LiveRange(live);
  a.resident = status.resident;
  // The kernel counts the three kinds at slightly different moments.
  uint64_t left = status.resident;
  At(&a, Part::kFiles) = Take(status.file, &left);
  uint64_t shared = Take(status.shared, &left);
  const uint64_t kinds = status.anonymous + status.file + status.shared;
  uint64_t anonymous = Take(kinds == 0 ? left : status.anonymous, &left);
  // The gauge file lies in shared memory as a rule, else among the files.
  uint64_t& agent = At(&a, Part::kAgent);
  agent = Take(agent_file_bytes, &shared);
  agent += Take(agent_file_bytes - agent, &At(&a, Part::kFiles));
  agent += Take(agent_private_bytes, &anonymous);
  At(&a, Part::kShared) = shared;
  a.heap_resident = anonymous;  // at most
  uint64_t rest = SplitHeap(anonymous, live, allocator, statistics, &a);
  uint64_t kept = 0;
  if (Has(statistics, kHasFree)) kept += statistics->free_bytes;
  if (Has(statistics, kHasCached)) kept += statistics->cached_bytes;
  At(&a, Part::kFree) = Take(kept, &rest);
  At(&a, Part::kMapped) = Take(recorded_bytes, &rest);
  At(&a, Part::kRest) = rest + left;
  return a;
}

namespace {

constexpr size_t kFewestPoints = 5;
constexpr double kShortestSeconds = 5;

}  // namespace

Growth GrowthOf(const std::vector<TimelinePoint>& timeline, uint64_t window_ns) {
  Growth growth;
  if (timeline.empty()) return growth;
  const uint64_t last = timeline.back().time_ns;
  std::vector<const TimelinePoint*> points;
  size_t with_resident = 0;
  for (const TimelinePoint& point : timeline) {
    if (last - point.time_ns > window_ns) continue;
    points.push_back(&point);
    if (point.resident_bytes != 0) ++with_resident;
  }
  growth.of_resident = with_resident >= kFewestPoints;
  double n = 0;
  double sum_t = 0;
  double sum_v = 0;
  double sum_tt = 0;
  double sum_tv = 0;
  double first = 0;
  for (const TimelinePoint* point : points) {
    if (growth.of_resident && point->resident_bytes == 0) continue;
    const double t = static_cast<double>(last - point->time_ns) / -1e9;
    const double v =
        static_cast<double>(growth.of_resident ? point->resident_bytes : point->live_bytes);
    if (n == 0) first = t;
    n += 1;
    sum_t += t;
    sum_v += v;
    sum_tt += t * t;
    sum_tv += t * v;
  }
  const double spread = n * sum_tt - sum_t * sum_t;
  if (n < kFewestPoints || -first < kShortestSeconds || !(spread > 0)) return growth;
  growth.seconds = -first;
  growth.bytes_per_second = (n * sum_tv - sum_t * sum_v) / spread;
  return growth;
}

}  // namespace heapgauge
