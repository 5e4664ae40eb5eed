// What is read of another process: its memory, its threads at the instant of a picture, and which
// pages it ever touched.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/address_range.h"
#include "core/base/file.h"
#include "core/leaks/scan/memory_image.h"

namespace heapgauge::leaks {

// Memory of another process that does not run: a copy, or a program that is stopped.
//
// Read() is thread-safe. Where the kernel does not let us read many pages at once, or a page has no
// right to be read, /proc/PID/mem is asked.
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

// A thread as it was at the instant of a picture. Plain data.
struct CapturedThread {
  uint32_t id = 0;              // as the kernel numbers it for us
  uint64_t stack_pointer = 0;   // 0 unknown
  uint64_t thread_pointer = 0;  // of its control block; 0 unknown
  std::vector<RootRegister> registers;
};

// Which pages of a range a process has ever touched, from its page map: those in memory or
// swapped out. A mapping of a terabyte mostly has few.
//
// Who reads a page of anonymous memory that was never touched sees zero, and no harm is done. In
// shared memory, and in files that are kept in memory, that would fill a hole.
//
// The number of pages that are asked for is bounded. Searching a page that was never touched costs
// a hundred times as much as asking for it, so the bound is the address space: about a minute.
//
// Not synchronised.
class TouchedPages {
 public:
  static constexpr uint64_t kPage = 4096;
  static constexpr uint64_t kAllPages = (uint64_t{1} << 47) / kPage;

  // Without a source nothing is known.
  explicit TouchedPages(std::unique_ptr<ByteSource> page_map, uint64_t budget = kAllPages);

  // Which other pages are told along.
  enum class Others {
    kHolesToo,    // small holes, and pages of which nothing is known
    kUnknownToo,  // pages of which nothing is known
    kNone,
  };
  // The touched parts of [start, end), cut to it, in order.
  std::vector<AddressRange> In(uint64_t start, uint64_t end, Others others = Others::kHolesToo);

  // What was asked for so far with Others::kNone, and nothing is known of.
  uint64_t unknown_bytes() const { return unknown_bytes_; }

 private:
  std::unique_ptr<ByteSource> source_;
  uint64_t budget_;  // pages
  uint64_t unknown_bytes_ = 0;
};

}  // namespace heapgauge::leaks
