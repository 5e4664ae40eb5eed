// Where a program can begin to look for its blocks: registers of its threads, their stacks from the
// stack pointer up, data of programs and libraries, thread-local storage, mappings that are not the
// heap's, and what the kernel gives back with events. A block that no chain of pointers from there
// leads to is lost.
//
// Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/address_range.h"

namespace heapgauge::leaks {

enum class RootKind : uint8_t {
  kRegister,
  kStack,        // of a live thread, from its stack pointer on
  kWholeStack,   // the same where the stack pointer is unknown; old words may be found in it
  kThreadLocal,  // TLS and control block of a live thread
  kData,         // of the program or a library
  kMapping,      // everything else that the program has mapped
  kEpoll,        // given to epoll along with a descriptor
};
const char* RootKindName(RootKind kind);

struct RootRange {
  AddressRange range;
  RootKind kind = RootKind::kMapping;
  uint32_t thread = 0;  // kernel id, for stacks and TLS
  uint32_t object = 0;  // index in Roots::objects, for data and mapped files; 0 none
};

// A word that is in no memory: in a register, or in the kernel.
struct RootRegister {
  uint64_t value = 0;
  uint32_t thread = 0;
  const char* name = "";  // of static storage
  RootKind kind = RootKind::kRegister;
  uint32_t descriptor = 0;  // of epoll, for kEpoll
};

struct Roots {
  std::vector<RootRegister> registers;
  std::vector<RootRange> ranges;  // by address, without overlaps, none of them the heap's
  struct Object {
    std::string path;
    uint64_t load_bias = 0;  // address - load_bias is the address in its ELF file
  };
  std::vector<Object> objects{{}};  // the first one is nobody

  // Memory of the allocator: known blocks lie in it. Where not all blocks are known, the rest of it
  // holds others, and memory that was freed. By address, merged.
  std::vector<AddressRange> heap;
  bool has_extent_records = false;  // jemalloc's (scan/extent_records.h), in the heap and beside it

  // Readable and executable mappings of files, by address, merged. A word that points to a table of
  // pointers to code is taken for an object's; without these lists none is.
  std::vector<AddressRange> files;
  std::vector<AddressRange> code;
};

}  // namespace heapgauge::leaks
