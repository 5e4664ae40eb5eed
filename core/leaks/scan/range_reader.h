// Reads ranges of a memory image through a bounded buffer, in pieces, and passes over what cannot
// be read.
//
// Owned by one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/leaks/scan/memory_image.h"

namespace heapgauge::leaks {

class RangeReader {
 public:
  // Stays in the cache of a core between being filled and being looked at.
  static constexpr size_t kBufferBytes = 256 << 10;

  explicit RangeReader(const MemoryImage& image) : image_(image), buffer_(kBufferBytes / 8) {}

  // Calls piece(address, words, count) for the aligned words of [start, end) that can be read, in
  // order.
  template <typename Piece>
  void Read(uint64_t start, uint64_t end, Piece&& piece) {
    start = start > UINT64_MAX - 7 ? end : (start + 7) & ~uint64_t{7};
    end &= ~uint64_t{7};
    while (start < end) {
      const size_t wanted = static_cast<size_t>(std::min<uint64_t>(end - start, kBufferBytes));
      const size_t got = image_.Read(start, wanted, buffer_.data()) & ~size_t{7};
      if (got != 0) {
        read_bytes_ += got;
        piece(start, buffer_.data(), got / 8);
        start += got;
      }
      if (got < wanted) {
        const uint64_t next = std::max(start + 8, image_.NextReadable(start, end) & ~uint64_t{7});
        unreadable_bytes_ += std::min(next, end) - start;
        start = next;
      }
    }
  }

  // Fills `to` with `size` bytes from `address`, and zero where they cannot be read.
  void ReadTo(uint64_t address, size_t size, void* to) {
    auto* bytes = static_cast<uint8_t*>(to);
    for (size_t at = 0; at < size;) {
      const size_t got = image_.Read(address + at, size - at, bytes + at);
      read_bytes_ += got;
      at += got;
      if (at >= size) break;
      const uint64_t next =
          std::max(address + at + 1, image_.NextReadable(address + at, address + size));
      const size_t hole = static_cast<size_t>(std::min(next - address, uint64_t{size})) - at;
      std::memset(bytes + at, 0, hole);
      unreadable_bytes_ += hole;
      at += hole;
    }
  }

  // What was searched without being read.
  void Count(uint64_t searched, uint64_t unreadable) {
    read_bytes_ += searched;
    unreadable_bytes_ += unreadable;
  }

  uint64_t read_bytes() const { return read_bytes_; }
  uint64_t unreadable_bytes() const { return unreadable_bytes_; }

 private:
  const MemoryImage& image_;
  std::vector<uint64_t> buffer_;
  uint64_t read_bytes_ = 0;
  uint64_t unreadable_bytes_ = 0;
};

}  // namespace heapgauge::leaks
