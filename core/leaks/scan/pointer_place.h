// Where a pointer was found, in terms that people know: a register, a global variable, a thread's
// stack, a place in another block.
//
// Plain data and functions over a Check.
#pragma once

#include <cstdint>
#include <string>

#include "core/leaks/scan/check.h"

namespace heapgauge::leaks {

class DataSymbols;

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

}  // namespace heapgauge::leaks
