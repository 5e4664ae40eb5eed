// Goes through words of memory and tells which blocks they point to. Look-ups wait for memory, so
// candidates are gathered, and each step of the look-up is done for all of them while the next
// ones' memory is on its way.
//
// Owned by one thread. Holds some 30 KiB.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/leaks/scan/block_index.h"
#include "core/leaks/scan/heuristics.h"
#include "core/leaks/scan/word_filter.h"

namespace heapgauge::leaks {

// A word of memory, or a register, that was looked at.
struct Pointer {
  uint64_t value = 0;
  uint64_t address = 0;        // where it is
  uint32_t source = kNoBlock;  // the block that it is in
};

// Sink has
//   void Prefetch(const Pointer& pointer, uint32_t block);  // perhaps before OnBlock
//   void OnBlock(const Pointer& pointer, uint32_t block, Place place);
//   void OnOther(const Pointer& pointer);             // into the range, but into no block
//   void OnBatch();                                   // after some of them
// in the order of the words.
template <typename Sink>
class PointerFinder {
 public:
  static constexpr size_t kBatch = 160;

  // Looks at values in [low, low + span), which holds at least all blocks. Both must outlive it.
  // No more than about `batch` pointers are told together.
  PointerFinder(const BlockIndex* index, uint64_t low, uint64_t span, Sink* sink,
                size_t batch = kBatch)
      : index_(*index),
        low_(low),
        span_(span),
        sink_(sink),
        limit_(std::min(batch, kBatch)),
        filter_(BestWordFilter()) {}

  // `count` words that were read from `address`.
  void Add(const uint64_t* words, size_t count, uint64_t address, uint32_t source) {
    while (count != 0) {
      const size_t part = std::min({count, kPart, limit_});
      if (size_ + part > limit_) Flush();
      const size_t found = filter_(words, part, low_, span_, found_.data());
      for (size_t i = 0; i < found; ++i) {
        batch_[size_++] = {words[found_[i]], address + found_[i] * 8, source};
      }
      words += part;
      count -= part;
      address += part * 8;
    }
  }

  // All that was added has been told afterwards.
  void Flush() {
    for (size_t i = 0; i < size_; ++i) {
      row_[i] = index_.RowOf(batch_[i].value);
      __builtin_prefetch(row_[i]);
    }
    for (size_t i = 0; i < size_; ++i) {
      guess_[i] = index_.GuessFrom(row_[i], batch_[i].value, BlockIndex::Bits);
      if (guess_[i].is_start) {
        sink_->Prefetch(batch_[i], guess_[i].block);
      } else if (guess_[i].block != kNoBlock) {
        __builtin_prefetch(&index_.extent(guess_[i].block));
      }
    }
    for (size_t i = 0; i < size_; ++i) {
      const Pointer& pointer = batch_[i];
      if (guess_[i].is_start) {
        sink_->OnBlock(pointer, guess_[i].block, Place::kStart);
        continue;
      }
      const uint32_t block = index_.Check(guess_[i].block, pointer.value);
      if (block == kNoBlock) {
        sink_->OnOther(pointer);
      } else {
        sink_->OnBlock(pointer, block, PlaceOf(pointer.value - index_.extent(block).start));
      }
    }
    size_ = 0;
    sink_->OnBatch();
  }

 private:
  static constexpr size_t kPart = 96;
  const BlockIndex& index_;
  uint64_t low_;
  uint64_t span_;
  Sink* sink_;
  size_t limit_;
  WordFilter filter_;
  size_t size_ = 0;
  std::array<uint32_t, kPart + 4> found_;
  std::array<Pointer, kBatch> batch_;
  std::array<const BlockIndex::Row*, kBatch> row_;
  std::array<BlockIndex::Guess, kBatch> guess_;
};

}  // namespace heapgauge::leaks
