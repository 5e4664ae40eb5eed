#include "core/os/page_map.h"

#include <algorithm>
#include <utility>

namespace heapgauge {
namespace {

constexpr uint64_t kPresent = uint64_t{1} << 63;
constexpr uint64_t kWindowPages = 4096;

}  // namespace

PageMap::PageMap(std::unique_ptr<ByteSource> source, uint64_t budget)
    : source_(std::move(source)), budget_(budget) {}

// Reads no further ahead than to the page `last`.
const uint64_t* PageMap::Entry(uint64_t page, uint64_t last) {
  if (page >= window_first_ && page - window_first_ < window_.size()) {
    return &window_[page - window_first_];
  }
  const uint64_t pages = std::min({kWindowPages, last - page + 1, budget_});
  if (pages == 0) return nullptr;
  budget_ -= pages;
  window_first_ = page;
  window_.resize(pages);
  const size_t got =
      source_->ReadAt(page * sizeof(uint64_t), window_.data(), pages * sizeof(uint64_t));
  window_.resize(got / sizeof(uint64_t));
  return window_.empty() ? nullptr : window_.data();
}

std::optional<uint64_t> PageMap::ResidentIn(uint64_t start, uint64_t end) {
  if (source_ == nullptr) return std::nullopt;
  if (end <= start) return 0;
  uint64_t resident = 0;
  const uint64_t last = (end - 1) / kPage;
  for (uint64_t page = start / kPage; page <= last; ++page) {
    const uint64_t* entry = Entry(page, last);
    if (entry == nullptr) return std::nullopt;
    if ((*entry & kPresent) == 0) continue;
    resident += std::min(end, (page + 1) * kPage) - std::max(start, page * kPage);
  }
  return resident;
}

}  // namespace heapgauge
