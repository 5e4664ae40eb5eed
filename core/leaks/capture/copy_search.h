// A search of the memory of a copy by the copy itself, in pieces: while one is looked at by
// whoever asked, the copy searches for the next.
//
// Owned by one thread; the picture's own works for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/leaks/capture/picture.h"
#include "core/leaks/capture/process_memory_image.h"
#include "core/leaks/scan/memory_image.h"

namespace heapgauge::leaks {

class CopySearch final : public WordSearch {
 public:
  // `image` is the copy's, for what it cannot read by itself. Both must outlive this. REQUIRES: the
  // picture is prepared.
  CopySearch(Picture* picture, const MemoryImage& image, std::vector<AddressRange> ranges,
             uint64_t low, uint64_t span);
  ~CopySearch() override;
  CopySearch(const CopySearch&) = delete;
  CopySearch& operator=(const CopySearch&) = delete;

  bool Next(Found* found) override;
  bool failed() const override { return failed_; }
  uint64_t searched_bytes() const override { return searched_bytes_; }
  uint64_t unreadable_bytes() const override { return unreadable_bytes_; }
  uint64_t cpu_ns() const override { return cpu_ns_; }

 private:
  // What is found at a time.
  struct Piece {
    uint64_t* values = nullptr;  // the copy's buffers
    uint32_t* places = nullptr;
    size_t count = 0;
    uint64_t base = 0;
  };

  // By the picture's thread.
  void Work(SearchingCopy* copy);
  void Fill(SearchingCopy* copy);
  void ReadPart(uint64_t from, uint64_t to, Piece* piece);

  Picture* picture_;
  const MemoryImage& image_;
  const std::vector<AddressRange> ranges_;
  const uint64_t low_;
  const uint64_t span_;
  size_t first_ = 0;     // of the ranges that the copy has
  size_t last_ = 0;      // one behind
  bool ended_ = false;   // nothing more is to be found
  bool failed_ = false;  // as the copy has ended, or does not do as it is told
  std::array<Piece, 2> pieces_;
  size_t filling_ = 0;
  uint64_t searched_bytes_ = 0;
  uint64_t unreadable_bytes_ = 0;
  uint64_t cpu_ns_ = 0;
};

// The memory of a copy, which searches itself.
class CopyImage final : public ProcessMemoryImage {
 public:
  // The picture must outlive this.
  explicit CopyImage(Picture* picture);

  // One at a time.
  std::unique_ptr<WordSearch> Search(std::vector<AddressRange> ranges, uint64_t low,
                                     uint64_t span) const override;

 private:
  Picture* picture_;
};

}  // namespace heapgauge::leaks
