// Memory that a program keeps from its children, so that a copy does not have it: what has
// MADV_DONTFORK is not there, what has MADV_WIPEONFORK is empty. It holds pointers as any other
// memory does. So it is read from the program itself, which runs: a moment later than the picture.
//
//   UncopiedMemory uncopied(program);    // before the copy is made
//   uncopied.ReadMissing(copy);          // at once after it
//   uncopied.ReadWiped(ranges);          // those of the copy that are marked so
//   const CompletedImage whole(image, uncopied);
//
// What is missing is told from the lists of mappings: it was there before and after, and the copy
// does not have it. Pages that were never touched are left out, and so are shared memory and
// devices. The number of bytes is bounded. Not synchronised; CompletedImage may be read by any
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/address_range.h"
#include "core/leaks/capture/process_memory_image.h"
#include "core/leaks/scan/memory_image.h"

namespace heapgauge::leaks {

class UncopiedMemory {
 public:
  static constexpr uint64_t kMostBytes = uint64_t{256} << 20;

  explicit UncopiedMemory(uint32_t program, uint64_t most_bytes = kMostBytes);

  void ReadMissing(uint32_t copy);
  // REQUIRES: by address, without overlaps.
  void ReadWiped(const std::vector<AddressRange>& ranges);

  // What was read; by address, merged.
  const std::vector<AddressRange>& ranges() const { return ranges_; }
  // What is missing and was read, and what could not be or is too much.
  uint64_t missing_bytes() const { return missing_bytes_; }
  uint64_t unread_missing_bytes() const { return unread_missing_bytes_; }
  // The same of what is wiped, which hardly ever holds a pointer: it is a page of random numbers of
  // a library as a rule.
  uint64_t unread_wiped_bytes() const { return unread_wiped_bytes_; }

  // As MemoryImage does.
  size_t Read(uint64_t address, size_t size, void* to) const;

 private:
  struct Piece {
    uint64_t start = 0;
    std::vector<char> bytes;
  };

  // How many bytes could not be read.
  uint64_t ReadAll(const std::vector<AddressRange>& ranges);
  uint64_t ReadPart(const AddressRange& range);

  uint32_t program_;
  uint64_t most_bytes_;
  ProcessMemoryImage memory_;
  TouchedPages touched_;
  std::vector<AddressRange> before_;  // private memory that could be read
  std::vector<Piece> pieces_;         // by address
  std::vector<AddressRange> ranges_;
  uint64_t read_bytes_ = 0;
  uint64_t missing_bytes_ = 0;
  uint64_t unread_missing_bytes_ = 0;
  uint64_t unread_wiped_bytes_ = 0;
};

// The memory of a copy with what it lacks. Both must outlive this.
class CompletedImage final : public MemoryImage {
 public:
  CompletedImage(const MemoryImage& copy, const UncopiedMemory& uncopied)
      : copy_(copy), uncopied_(uncopied) {}

  size_t Read(uint64_t address, size_t size, void* to) const override;
  uint64_t NextReadable(uint64_t address, uint64_t end) const override;
  // None if the copy lacks some of it.
  std::unique_ptr<WordSearch> Search(std::vector<AddressRange> ranges, uint64_t low,
                                     uint64_t span) const override;

 private:
  const MemoryImage& copy_;
  const UncopiedMemory& uncopied_;
};

}  // namespace heapgauge::leaks
