// Where the resident memory is: parts that add up to it, byte by byte, with what is left over shown
// as the last part. Also how fast it grows.
//
// The heap's part is made of what its mappings hold in memory. Live blocks are known from samples,
// with a range. Where the allocator was asked, its own count of bytes in use corrects the estimate
// within that range; what it counts beyond is memory that the profile does not know (allocated
// before sampling began, or past the agent). Blocks that were never written to are not in memory,
// so each sampled block counts with the share of its pages that is. Whatever else the heap's
// mappings hold is free memory that the allocator keeps.
//
// Pure functions; plain values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/fold/statistics.h"
#include "core/memory/ownership.h"
#include "core/model/estimate.h"
#include "core/model/profile.h"
#include "core/os/process_memory.h"
#include "wire/gauge_format.h"

namespace heapgauge {

enum class Part : uint8_t {
  kLive,        // live blocks as the program asked for them
  kRounding,    // what the allocator added to their sizes
  kNotSampled,  // in use by the allocator's count, but not in the profile
  kMetadata,    // the allocator's book-keeping
  kFree,        // kept by the allocator for later
  kStacks,
  kMapped,  // by mmap, recorded
  kProgram,
  kFiles,
  kShared,
  kAgent,
  kKernel,
  kRest,
};
inline constexpr size_t kParts = 13;
const char* PartKey(Part part);  // "live", "rounding", ... for JSON

// What the samples say about the heap.
struct LiveFigures {
  Estimate bytes;
  double objects = 0;
  double rounding = 0;           // usable minus requested
  double resident = 0;           // of `bytes`: in pages that are in memory
  double rounding_resident = 0;  // of `rounding`
  uint64_t samples = 0;
  uint64_t interval = 1;  // in force now
};

struct AccountingInput {
  std::vector<Piece> pieces;
  uint64_t not_listed_resident = 0;  // of mappings beyond those that can be listed
  LiveFigures live;
  wire::Allocator allocator = wire::Allocator::kUnknown;
  std::optional<wire::AllocatorStatistics> statistics;  // fresh ones only
  bool heap_is_complete = false;     // all of the allocator's memory is surely among the pieces
  uint64_t agent_private_bytes = 0;  // for agents that do not tell their ranges
  bool agent_ranges_known = false;
};

struct Accounting {
  uint64_t resident = 0;
  std::array<uint64_t, kParts> parts{};  // they add up to `resident`
  LiveFigures live;
  Interval live_range;         // of all live bytes, in memory or not
  uint64_t heap_resident = 0;  // what the allocator's mappings hold
  uint64_t heap_by_statistics =
      0;                        // of it: only the allocator's own figures say that it is the heap's
  bool live_is_capped = false;  // the estimate is larger than all that the heap holds
  bool coarse = false;          // made of sums alone, without a list of mappings

  uint64_t part(Part p) const { return parts[static_cast<size_t>(p)]; }
};

Accounting Account(const AccountingInput& input);

// The same where only the kernel's sums are known: no list of mappings, or a process that is gone.
// Stacks and free memory that no statistics tell of are then in the rest. `recorded_bytes` is the
// size of the anonymous mappings that the program made itself, resident or not.
Accounting AccountCoarsely(const ProcessStatus& status, const LiveFigures& live,
                           wire::Allocator allocator,
                           const std::optional<wire::AllocatorStatistics>& statistics,
                           uint64_t agent_private_bytes, uint64_t agent_file_bytes,
                           uint64_t recorded_bytes);

// Bits of AllocatorStatistics::mask.
enum StatisticsBit : uint32_t {
  kHasMapped = 1,
  kHasResident = 2,
  kHasInUse = 4,
  kHasFree = 8,
  kHasCached = 16,
  kHasMetadata = 32,
};

// How fast a program grows, from its timeline: the slope of a straight line through the last
// points.
struct Growth {
  double bytes_per_second = 0;
  double seconds = 0;        // the points span this long; 0: too few points to tell
  bool of_resident = false;  // else of live bytes

  bool known() const { return seconds > 0; }
};

// Over the last `window_ns`; at least five points over five seconds are needed.
Growth GrowthOf(const std::vector<TimelinePoint>& timeline,
                uint64_t window_ns = 120'000'000'000ull);

}  // namespace heapgauge
