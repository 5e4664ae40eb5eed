// A bit, or a byte, for each block of a leak check.
//
// Owned by one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "core/leaks/scan/known_blocks.h"

namespace heapgauge::leaks {

// One bit for each block. Of a million blocks these are 122 KiB, which stay in the cache of a core
// where a byte for each would not.
class BlockBits {
 public:
  explicit BlockBits(size_t blocks) : words_(blocks / 64 + 1) {}
  // The first `blocks` that are in neither.
  static BlockBits InNeither(const BlockBits& a, const BlockBits& b, size_t blocks) {
    BlockBits bits(blocks);
    for (size_t i = 0; i < bits.words_.size(); ++i) bits.words_[i] = ~(a.words_[i] | b.words_[i]);
    bits.words_.back() &= (uint64_t{1} << (blocks % 64)) - 1;
    return bits;
  }
  bool Has(uint32_t block) const { return Bit(block) != 0; }
  // The same as a number, for sums without a decision that a processor could guess wrongly.
  uint64_t Bit(uint32_t block) const { return words_[block / 64] >> (block % 64) & 1; }
  // The first one from `block` on, below `end`; kNoBlock if there is none.
  uint32_t Next(uint32_t block, size_t end) const {
    for (size_t i = block / 64; i < words_.size(); ++i) {
      uint64_t word = words_[i];
      if (i == block / 64) word &= ~uint64_t{0} << (block % 64);
      if (word == 0) continue;
      const size_t found = i * 64 + static_cast<size_t>(__builtin_ctzll(word));
      return found < end ? static_cast<uint32_t>(found) : kNoBlock;
    }
    return kNoBlock;
  }
  void Clear(uint32_t block) { words_[block / 64] &= ~(uint64_t{1} << (block % 64)); }
  void Set(uint32_t block) { words_[block / 64] |= uint64_t{1} << (block % 64); }
  void SetAll() { std::fill(words_.begin(), words_.end(), ~uint64_t{0}); }

 private:
  std::vector<uint64_t> words_;
};

// A byte for each block, zero at first. Bytes that nobody asks for take no memory and no time.
//
// Throws std::bad_alloc.
class ZeroedBytes {
 public:
  explicit ZeroedBytes(size_t count) : bytes_(static_cast<uint8_t*>(std::calloc(count + 1, 1))) {
    if (bytes_ == nullptr) throw std::bad_alloc();
  }
  uint8_t& operator[](size_t i) { return bytes_.get()[i]; }
  uint8_t operator[](size_t i) const { return bytes_.get()[i]; }

 private:
  struct Free {
    void operator()(uint8_t* bytes) const { std::free(bytes); }
  };
  std::unique_ptr<uint8_t, Free> bytes_;
};

}  // namespace heapgauge::leaks
