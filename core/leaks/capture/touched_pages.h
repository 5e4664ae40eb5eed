// Which pages of a range a process has ever touched, from its page map: those in memory or
// swapped out. A mapping of a terabyte mostly has few.
//
// The number of pages that are asked for is bounded. Not synchronised.
#ifndef HEAPGAUGE_CORE_LEAKS_CAPTURE_TOUCHED_PAGES_H_
#define HEAPGAUGE_CORE_LEAKS_CAPTURE_TOUCHED_PAGES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/address_range.h"
#include "core/base/file.h"

namespace heapgauge::leaks {

class TouchedPages {
 public:
  static constexpr uint64_t kPage = 4096;

  // Without a source nothing is known, and all pages count as touched.
  explicit TouchedPages(std::unique_ptr<ByteSource> page_map, uint64_t budget = 64 << 20);
  bool known() const { return source_ != nullptr; }

  // The touched parts of [start, end), cut to it, in order. Holes of a few pages may be in them.
  std::vector<AddressRange> In(uint64_t start, uint64_t end);

 private:
  std::unique_ptr<ByteSource> source_;
  uint64_t budget_;  // pages
};

}  // namespace heapgauge::leaks

#endif  // HEAPGAUGE_CORE_LEAKS_CAPTURE_TOUCHED_PAGES_H_
