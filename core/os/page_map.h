// Which pages of another process are in memory, from /proc/PID/pagemap. smaps tells it for a whole
// mapping; this tells it for a part of one, such as a single block of the heap or one of several
// owners whose memory the kernel has merged into one mapping.
//
// The number of pages that may be asked for is bounded, since a range may be as large as the
// address space. Not synchronised.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/file.h"

namespace heapgauge {

class PageMap {
 public:
  static constexpr uint64_t kPage = 4096;

  // Without a source, nothing is known. `budget` is the number of pages that may be looked at.
  explicit PageMap(std::unique_ptr<ByteSource> source = nullptr, uint64_t budget = 16 << 20);

  bool known() const { return source_ != nullptr; }

  // Bytes of [start, end) that lie in pages that are in memory. Nothing if that cannot be told.
  std::optional<uint64_t> ResidentIn(uint64_t start, uint64_t end);

 private:
  std::unique_ptr<ByteSource> source_;
  uint64_t budget_;
  std::vector<uint64_t> window_;  // entries of the pages from window_first_ on
  uint64_t window_first_ = 0;

  const uint64_t* Entry(uint64_t page, uint64_t last);
};

}  // namespace heapgauge
