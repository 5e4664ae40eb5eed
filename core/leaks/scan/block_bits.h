// One bit for each block. Of a million blocks these are 122 KiB, which stay in the cache of a core
// where a byte for each would not.
//
// Owned by one thread.
#ifndef HEAPGAUGE_CORE_LEAKS_SCAN_BLOCK_BITS_H_
#define HEAPGAUGE_CORE_LEAKS_SCAN_BLOCK_BITS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapgauge::leaks {

class BlockBits {
 public:
  explicit BlockBits(size_t blocks) : words_(blocks / 64 + 1) {}
  bool Has(uint32_t block) const { return (words_[block / 64] >> (block % 64) & 1) != 0; }
  void Set(uint32_t block) { words_[block / 64] |= uint64_t{1} << (block % 64); }

 private:
  std::vector<uint64_t> words_;
};

}  // namespace heapgauge::leaks

#endif  // HEAPGAUGE_CORE_LEAKS_SCAN_BLOCK_BITS_H_
