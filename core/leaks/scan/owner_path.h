// Who holds a block: the chain of pointers from a root to it, and where each of them was found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/leaks/scan/check.h"
#include "core/leaks/scan/memory_image.h"

namespace heapgauge::leaks {

class DataSymbols;

// Where a pointer was found, in terms that people know: a register, a global variable, a thread's
// stack, a place in another block.
//
// Plain data and functions over a Check.
struct PointerPlace {
  enum class In : uint8_t {
    kRoot,
    kBlock,        // a known one
    kUnknownHeap,  // memory of the heap that no known block holds
    kNowhere,      // none of these: not told by the check
  };
  In in = In::kNowhere;
  uint64_t address = 0;  // 0 for a register

  // kRoot.
  RootKind root = RootKind::kMapping;
  uint32_t thread = 0;
  const char* register_name = "";
  uint32_t descriptor = 0;  // of epoll
  uint32_t object = 0;      // in Roots::objects
  uint64_t offset = 0;      // from the start of the root's range, or of the block

  uint32_t block = kNoBlock;  // kBlock
};

// The block that holds the address, or kNoBlock.
uint32_t FindBlock(const KnownBlocks& known, uint64_t address);

PointerPlace PlaceOfAddress(const Check& check, uint64_t address);
// REQUIRES: a number of Roots::registers.
PointerPlace PlaceOfRegister(const Check& check, uint64_t number);
// Of the pointer that led to the block first. REQUIRES: verdict.has_pointer.
PointerPlace PlaceOfPointer(const Check& check, const Verdict& verdict);

// "register rbx of thread 12", "epoll descriptor 3", "cache+0x10, data of /usr/bin/server", "offset
// 16 of the block at 0x5581c0 (64 bytes)". `symbols` may be null.
std::string DescribePlace(const Check& check, const PointerPlace& place, DataSymbols* symbols);

// Who holds a block: the chain of pointers from a root to it, and every place that points to it.
//
// Pure functions; FindPointersTo() reads the whole image once.
struct OwnerPath {
  uint32_t block = kNoBlock;
  // Where pointers are, from the root (or the leader of a lost group) on; each holds the address of
  // the block in which the next one is, the last one that of `block`. Empty: nothing points to it.
  std::vector<PointerPlace> places;
  // A long chain is cut in the middle: this many are left out after places[kept_first - 1].
  uint64_t left_out = 0;
  size_t kept_first = 0;
};

// The chain that the check found first. At most `limit` places, at least two. REQUIRES: `block` is
// the number of one of the check's blocks.
OwnerPath PathToBlock(const Check& check, uint32_t block, size_t limit = 64);

struct PointerTo {
  PointerPlace place;
  uint64_t value = 0;
};

struct PointersTo {
  std::vector<PointerTo> pointers;  // registers, then by address
  uint64_t count = 0;               // of all, also those beyond the limit
};

// All aligned words of roots and blocks, and of unknown memory of the heap where not all blocks are
// known, whose value lies in `target`. At most `limit` are told.
PointersTo FindPointersTo(const MemoryImage& image, const Check& check, const AddressRange& target,
                          size_t limit = 1000);

}  // namespace heapgauge::leaks
