// Which columns a chunk of kSegment has, and what the bytes of its events mean: for encoder and
// decoder.
#ifndef HEAPGAUGE_CORE_TRACE_FILE_SEGMENT_COLUMNS_H_
#define HEAPGAUGE_CORE_TRACE_FILE_SEGMENT_COLUMNS_H_

#include <cstddef>
#include <cstdint>

namespace heapgauge::trace {

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
  kBackColumn = 13,     // how many births ago the block was born that dies
  kBackTailColumn = 14,
  kStackLowColumn = 15,
  kStackMiddleColumn = 16,
  kStackHighColumn = 17,
  kSizeColumn = 18,
  kDistanceColumn = 19,  // where it is not what the events tell

  kDetailColumn = 24,
  kDetailTailColumn = 25,
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
  kFreeLast = 1,    // of the youngest live block of this thread
  kFreeAfter = 2,   // of the one born after that which this thread freed last
  kFreeBefore = 3,  // of the one born before that
  kFreeBack = 4,    // of one that kBackColumn tells
  kFreeOld = 5,     // of one that was born in an earlier segment
  kResize = 6,      // realloc; kResizedColumn has one of those above
};
inline constexpr uint8_t kKindMask = 7;
// whether another thread than that of the event before did it,
inline constexpr uint8_t kOtherThread = 8;
// and of a birth, whether the stack is another one than expected,
inline constexpr uint8_t kOtherStack = 16;
// and the size: one of the last four of the stack, or one that kSizeColumn tells.
inline constexpr int kSizeShift = 5;
inline constexpr uint32_t kRecentSizes = 4;
inline constexpr uint32_t kOtherSize = 4;
inline constexpr uint32_t kMappingSize = 5;  // the same, of a mapping

// The byte of an address: how many blocks of that kind were freed since it was, or
inline constexpr uint8_t kNewRegion = 64;     // in a region that kAddressTailColumn tells
inline constexpr uint8_t kSameAddress = 65;   // where the block was that realloc made it of
inline constexpr uint8_t kKnownRegion = 128;  // and above: in a region that was met before
// A region has 2^16 units of 16 bytes; kAddressLowColumn and kAddressHighColumn count in it.
inline constexpr int kRegionBits = 16;

// Bits of the byte of details: what is not as expected, and so in kDetailTailColumn.
inline constexpr uint8_t kOtherFunction = 1;
inline constexpr uint8_t kOtherSlack = 2;

// Bits of kOldFlagColumn.
inline constexpr uint8_t kOldIsMapping = 1;
inline constexpr uint8_t kOldHasPrevious = 2;
inline constexpr uint8_t kOldOtherThread = 4;

// How many bytes a place in a list of stacks takes.
constexpr size_t BytesOfPlaces(size_t stacks) {
  return stacks > 1 << 16 ? 3 : stacks > 1 << 8 ? 2 : 1;
}

}  // namespace heapgauge::trace

#endif  // HEAPGAUGE_CORE_TRACE_FILE_SEGMENT_COLUMNS_H_
