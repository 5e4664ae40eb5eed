// Which pages of a range a process has ever touched, from its page map: those in memory or
// swapped out. A mapping of a terabyte mostly has few.
//
// Who reads a page of anonymous memory that was never touched sees zero, and no harm is done. In
// shared memory, and in files that are kept in memory, that would fill a hole.
//
// The number of pages that are asked for is bounded. Not synchronised.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/address_range.h"
#include "core/base/file.h"

namespace heapgauge::leaks {

class TouchedPages {
 public:
  static constexpr uint64_t kPage = 4096;

  // Without a source nothing is known.
  explicit TouchedPages(std::unique_ptr<ByteSource> page_map, uint64_t budget = 64 << 20);

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
