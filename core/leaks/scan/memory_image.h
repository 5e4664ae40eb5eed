// What a leak check reads of a program: its memory as it was at one instant, and the roots where it
// begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/address_range.h"

namespace heapgauge::leaks {

// A search for words with certain values that goes on where the memory is. Owned by one thread.
class WordSearch {
 public:
  virtual ~WordSearch() = default;

  // Some words, in the order of their addresses.
  struct Found {
    const uint64_t* values = nullptr;
    const uint32_t* places = nullptr;  // in words from `base`
    size_t count = 0;
    uint64_t base = 0;
  };
  // The next ones, valid until the next call; false at the end.
  virtual bool Next(Found* found) = 0;

  // Whether it ended before all was searched: then what was found proves nothing. At the end.
  virtual bool failed() const = 0;

  // Complete at the end.
  virtual uint64_t searched_bytes() const = 0;
  virtual uint64_t unreadable_bytes() const = 0;
  // That others than the caller have spent on it.
  virtual uint64_t cpu_ns() const = 0;
};

// Memory of a program as it was at one instant: what a leak check reads. It is the memory of a copy
// that the program was made to fork, or of the program itself while it is stopped, or plain bytes
// in a test.
//
// Reading is thread-safe. What cannot be read (a page that is gone, a device) is skipped by
// callers; it is no error.
class MemoryImage {
 public:
  virtual ~MemoryImage() = default;

  // Copies [address, address + size) to `to`. How many bytes from the start on could be read.
  virtual size_t Read(uint64_t address, size_t size, void* to) const = 0;

  // Where reading may go on after it stopped at `address`, past it and at most `end`. An image that
  // knows its holes can skip them at once.
  virtual uint64_t NextReadable(uint64_t address, uint64_t end) const {
    const uint64_t next = (address / 4096 + 1) * 4096;
    return next < end ? next : end;
  }

  // A search for aligned words of `ranges` with values in [low, low + span), where the memory can
  // do that itself: that is quicker than reading all of it. Null where it cannot. REQUIRES: ranges
  // by address, of whole words, none longer than 1 GiB; low + span < 2^63.
  virtual std::unique_ptr<WordSearch> Search(std::vector<AddressRange> ranges, uint64_t low,
                                             uint64_t span) const {
    (void)ranges, (void)low, (void)span;
    return nullptr;
  }
};

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

// Where a program can begin to look for its blocks: registers of its threads, their stacks from the
// stack pointer up, data of programs and libraries, thread-local storage, mappings that are not the
// heap's, and what the kernel gives back with events. A block that no chain of pointers from there
// leads to is lost.
//
// Plain data.
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
  bool has_extent_records = false;  // jemalloc's (scan.h), in the heap and beside it

  // Readable and executable mappings of files, by address, merged. A word that points to a table of
  // pointers to code is taken for an object's; without these lists none is.
  std::vector<AddressRange> files;
  std::vector<AddressRange> code;
};

}  // namespace heapgauge::leaks
