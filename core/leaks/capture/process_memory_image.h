// Memory of another process that does not run: a copy, or a program that is stopped.
//
// Read() is thread-safe. Where the kernel does not let us read many pages at once, or a page has no
// right to be read, /proc/PID/mem is asked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/address_range.h"
#include "core/base/file.h"
#include "core/leaks/scan/memory_image.h"

namespace heapgauge::leaks {

class ProcessMemoryImage : public MemoryImage {
 public:
  explicit ProcessMemoryImage(uint32_t process);

  // Nothing can be read outside of these, which are sorted and merged. Without this call, holes are
  // found by trying.
  void SetReadable(std::vector<AddressRange> ranges) { readable_ = std::move(ranges); }

  size_t Read(uint64_t address, size_t size, void* to) const override;
  uint64_t NextReadable(uint64_t address, uint64_t end) const override;

 private:
  uint32_t thread_;             // through which it is read
  std::optional<File> memory_;  // /proc/PID/mem, if it may be opened
  std::vector<AddressRange> readable_;
};

// The same as a file, for those who read files: the offset is the address.
class ImageSource final : public ByteSource {
 public:
  explicit ImageSource(const MemoryImage& image) : image_(image) {}
  uint64_t Size() const override { return ~uint64_t{0}; }
  size_t ReadAt(uint64_t offset, void* buffer, size_t size) const override {
    return image_.Read(offset, size, buffer);
  }

 private:
  const MemoryImage& image_;
};

}  // namespace heapgauge::leaks
