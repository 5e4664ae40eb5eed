// A set of blocks of a trace, by their numbers: one bit a block, in pages that are there once a
// block of them is in it. So a file that claims more blocks than it has costs a pointer for each
// million of them.
//
// Thread-safe. Throws std::bad_alloc where there is no memory.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace heapgauge::trace {

class MarkedBlocks {
 public:
  // Of numbers below `blocks`; others are never in it.
  explicit MarkedBlocks(uint64_t blocks) : blocks_(blocks), pages_(blocks / kPageBlocks + 1) {}
  ~MarkedBlocks() {
    for (const std::atomic<Page*>& page : pages_) delete page.load(std::memory_order_relaxed);
  }
  MarkedBlocks(const MarkedBlocks&) = delete;
  MarkedBlocks& operator=(const MarkedBlocks&) = delete;

  void Mark(uint64_t number) {
    if (number >= blocks_) return;
    Page* page = pages_[number / kPageBlocks].load(std::memory_order_acquire);
    if (page == nullptr) page = AddPage(&pages_[number / kPageBlocks]);
    (*page)[number % kPageBlocks / 64].fetch_or(uint64_t{1} << number % 64,
                                                std::memory_order_relaxed);
  }
  bool IsMarked(uint64_t number) const {
    if (number >= blocks_) return false;
    const Page* page = pages_[number / kPageBlocks].load(std::memory_order_acquire);
    return page != nullptr &&
           ((*page)[number % kPageBlocks / 64].load(std::memory_order_relaxed) >> number % 64 &
            1) != 0;
  }

 private:
  static constexpr uint64_t kPageBlocks = 1 << 20;
  using Page = std::array<std::atomic<uint64_t>, kPageBlocks / 64>;

  static Page* AddPage(std::atomic<Page*>* place) {
    auto made = std::make_unique<Page>();
    Page* there = nullptr;
    const bool first = place->compare_exchange_strong(there, made.get(), std::memory_order_acq_rel,
                                                      std::memory_order_acquire);
    return first ? made.release() : there;
  }

  uint64_t blocks_;
  std::vector<std::atomic<Page*>> pages_;
};

}  // namespace heapgauge::trace
