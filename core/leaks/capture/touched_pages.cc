#include "core/leaks/capture/touched_pages.h"

#include <algorithm>
#include <utility>

namespace heapgauge::leaks {
namespace {

constexpr uint64_t kInMemory = uint64_t{1} << 63;
constexpr uint64_t kSwappedOut = uint64_t{1} << 62;
constexpr uint64_t kWindowPages = 32 * 1024;
// Small holes are read along: that is quicker than one read more.
constexpr uint64_t kSmallHole = 8 * TouchedPages::kPage;

}  // namespace

TouchedPages::TouchedPages(std::unique_ptr<ByteSource> page_map, uint64_t budget)
    : source_(std::move(page_map)), budget_(budget) {}

std::vector<AddressRange> TouchedPages::In(uint64_t start, uint64_t end, Others others) {
  std::vector<AddressRange> touched;
  if (end <= start) return touched;
  const uint64_t bridge = others == Others::kHolesToo ? kSmallHole : 0;
  const auto add = [&](uint64_t from, uint64_t to) {
    from = std::max(from, start);
    to = std::min(to, end);
    if (!touched.empty() && from - touched.back().end <= bridge) {
      touched.back().end = to;
    } else {
      touched.push_back({from, to});
    }
  };
  const uint64_t last = (end - 1) / kPage;
  std::vector<uint64_t> window;
  for (uint64_t page = start / kPage; page <= last;) {
    const uint64_t pages = std::min({kWindowPages, last - page + 1, budget_});
    size_t got = 0;
    if (source_ != nullptr && pages != 0) {
      budget_ -= pages;
      window.resize(pages);
      got = source_->ReadAt(page * sizeof(uint64_t), window.data(), pages * sizeof(uint64_t)) /
            sizeof(uint64_t);
    }
    if (got == 0) {
      if (others == Others::kNone) {
        unknown_bytes_ += end - std::max(page * kPage, start);
      } else {
        add(page * kPage, end);
      }
      break;
    }
    for (size_t i = 0; i < got; ++i) {
      if ((window[i] & (kInMemory | kSwappedOut)) != 0) {
        add((page + i) * kPage, (page + i + 1) * kPage);
      }
    }
    page += got;
  }
  return touched;
}

}  // namespace heapgauge::leaks
