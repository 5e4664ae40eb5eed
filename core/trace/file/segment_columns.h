// The columns of a segment, for encoder and decoder: those of its events, and the sums per stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/trace/file/column.h"
#include "core/trace/file/segment.h"

namespace heapgauge::trace {

// Which columns a chunk of kSegment has, and what the bytes of its events mean: for encoder and
// decoder.

// More than this would make readers ask for too much memory at once.
inline constexpr uint32_t kMaxSegmentEvents = 1 << 20;
// Numbers are below; what has a higher one becomes unknown.
inline constexpr uint32_t kMaxStacks = 1 << 26;
inline constexpr uint32_t kMaxThreads = 1 << 20;

enum SegmentColumn : uint16_t {
  kInfoColumn = 1,
  kStackListColumn = 2,  // stacks that events name, in order, as differences
  kSumCountColumn = 3,
  kSumByteColumn = 4,
  kSumLifetimeColumn = 5,

  // Places in that list, in the order in which events name the stacks first. Other columns have
  // places in this one.
  kStackOrderColumn = 6,

  kEventColumn = 8,  // a byte for each, see below
  kTimeColumn = 9,
  kTimeTailColumn = 10,
  kThreadColumn = 11,
  kResizedColumn = 12,  // what died, for each realloc
  kStepColumn = 13,     // births from the block that this thread freed last to the one that dies
  kStepTailColumn = 14,
  kStackLowColumn = 15,
  kStackMiddleColumn = 16,
  kStackHighColumn = 17,
  kShapeLowColumn = 18,  // places of known shapes
  kShapeHighColumn = 19,
  kNewShapeColumn = 20,  // size, slack, function, alignment
  kDistanceColumn = 21,  // where it is not what the events tell
  kPieceColumn = 22,     // mappings that were made of others, but not at the event that ended these

  kAddressColumn = 26,
  kAddressLowColumn = 27,
  kAddressHighColumn = 28,
  kAddressTailColumn = 29,

  kOldNumberColumn = 32,
  kOldBirthColumn = 33,
  kOldStackColumn = 34,
  kOldSizeColumn = 35,
  kOldFlagColumn = 36,
  kOldTailColumn = 37,
  kOldDistanceColumn = 38,
  kOldAddressColumn = 39,
  kOldDetailColumn = 40,
  kSegmentColumns = 41,
};

// The byte of an event: what happened in the low three bits,
enum EventKind : uint8_t {
  kAllocation = 0,
  kFreeLast = 1,  // of the youngest live block of this thread
  kFreeStep = 2,  // of one that kStepColumn tells
  kFreeOld = 3,   // of one that was born in an earlier segment
  kResize = 4,    // realloc; kResizedColumn has one of those above
  // The same as kAllocation and kResize, at the address that was to be expected.
  kExpectedAllocation = 5,
  kExpectedResize = 6,
};
inline constexpr uint8_t kKindMask = 7;
// whether another thread than that of the event before did it,
inline constexpr uint8_t kOtherThread = 8;
// and of a birth, whether the stack is another one than expected,
inline constexpr uint8_t kOtherStack = 16;
// and the shape: one of the last four of the stack, or
inline constexpr int kShapeShift = 5;
inline constexpr uint32_t kRecentShapes = 4;
inline constexpr uint32_t kKnownShape = 4;  // at the place that kShapeLowColumn and so on tell,
inline constexpr uint32_t kNewShape = 5;    // or what kNewShapeColumn tells, and known from now on,
inline constexpr uint32_t kMappingShape = 6;  // or not: that of a mapping,
inline constexpr uint32_t kLargeShape = 7;    // or of a block from 4 GiB on

// The byte of an address that was not to be expected.
inline constexpr uint8_t kNewRegion = 64;     // in a region that kAddressTailColumn tells
inline constexpr uint8_t kSameAddress = 65;   // where the block was that realloc made it of
inline constexpr uint8_t kKnownRegion = 128;  // and above: in a region that was met before
// A region has 2^16 units of 16 bytes; kAddressLowColumn and kAddressHighColumn count in it.
inline constexpr int kRegionBits = 16;

// Bits of kOldFlagColumn.
inline constexpr uint8_t kOldIsMapping = 1;
inline constexpr uint8_t kOldHasPrevious = 2;
inline constexpr uint8_t kOldOtherThread = 4;

// How many bytes a place in a list of stacks takes.
constexpr size_t BytesOfPlaces(size_t stacks) {
  return stacks > 1 << 16 ? 3 : stacks > 1 << 8 ? 2 : 1;
}

// Sums per stack of a segment: added up event by event, and as columns.

// What adds up for one stack, its heap blocks or its mappings. As small as it can be: events come
// to stacks in no order, so that each is a look into memory.
struct Tally {
  uint64_t allocated_bytes = 0;
  uint64_t freed_bytes = 0;
  uint64_t temporary_bytes = 0;
  double lifetime_byte_ns = 0;
  uint32_t allocated_blocks = 0;
  uint32_t freed_blocks = 0;
  uint32_t temporary_blocks = 0;

  void AddBirth(uint64_t size) {
    ++allocated_blocks;
    allocated_bytes += size;
  }
  void AddDeath(uint64_t size, uint64_t lifetime_ns, bool temporary) {
    ++freed_blocks;
    freed_bytes += size;
    temporary_blocks += temporary ? 1 : 0;
    temporary_bytes += temporary ? size : 0;
    lifetime_byte_ns += Real(size) * Real(lifetime_ns);
  }
  bool empty() const { return allocated_blocks == 0 && freed_blocks == 0; }

 private:
  // A number with a sign takes one step to become a real one; nothing is so large as to need more.
  static double Real(uint64_t number) {
    return static_cast<double>(static_cast<int64_t>(number & INT64_MAX));
  }
};

// Adds the row of a stack, if there is something in it.
void AppendSums(uint32_t stack, bool is_mapping, const Tally& tally, std::vector<StackSums>* out);

// Rows as columns.
struct SumColumns {
  ColumnWriter counts;
  ColumnWriter bytes;
  ColumnWriter lifetimes;

  // The row of a stack, if there is something in it. REQUIRES: in order of stacks, heap before
  // mappings.
  void Add(uint32_t stack, bool is_mapping, const Tally& tally);

 private:
  uint32_t last_stack_ = kNoIndex;
};

// False if the bytes make no sense. `stacks` is the list that the segment has.
bool DecodeSums(std::span<const uint32_t> stacks, ColumnReader counts, ColumnReader bytes,
                ColumnReader lifetimes, std::vector<StackSums>* out);

}  // namespace heapgauge::trace
