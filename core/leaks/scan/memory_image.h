// Memory of a program as it was at one instant: what a leak check reads. It is the memory of a copy
// that the program was made to fork, or of the program itself while it is stopped, or plain bytes
// in a test.
//
// Reading is thread-safe. What cannot be read (a page that is gone, a device) is skipped by
// callers; it is no error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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

}  // namespace heapgauge::leaks
