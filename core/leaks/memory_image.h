// Memory of a program as it was at one instant: what a leak check reads. It is the memory of a copy
// that the program was made to fork, or of the program itself while it is stopped, or plain bytes
// in a test.
//
// Reading is thread-safe. What cannot be read (a page that is gone, a device) is skipped by
// callers; it is no error.
#ifndef HEAPGAUGE_CORE_LEAKS_MEMORY_IMAGE_H_
#define HEAPGAUGE_CORE_LEAKS_MEMORY_IMAGE_H_

#include <cstddef>
#include <cstdint>

namespace heapgauge::leaks {

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
};

}  // namespace heapgauge::leaks

#endif  // HEAPGAUGE_CORE_LEAKS_MEMORY_IMAGE_H_
