// Bits that know how many of those before them are set: a small table can so stand in for a large
// one that is mostly empty. An eighth of a byte for each bit, and half of that again for the
// counts.
//
// Set() all, then Count() once, then ask. Not synchronised; any number of threads may ask.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapgauge {

class RankedBits {
 public:
  RankedBits() = default;
  // REQUIRES: fewer than 2^32.
  explicit RankedBits(size_t size) : words_(size / 64 + 1) {}

  void Set(size_t i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
  bool operator[](size_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }

  void Count() {
    before_.resize(words_.size());
    uint32_t sum = 0;
    for (size_t i = 0; i < words_.size(); ++i) {
      before_[i] = sum;
      sum += static_cast<uint32_t>(std::popcount(words_[i]));
    }
    ones_ = sum;
  }

  size_t ones() const { return ones_; }
  // 64 of them: bit i is the lowest of word i / 64.
  size_t words() const { return words_.size(); }
  uint64_t word(size_t i) const { return words_[i]; }
  // How many of the bits before `i` are set.
  uint32_t Rank(size_t i) const {
    const uint64_t below = words_[i / 64] & ((uint64_t{1} << (i % 64)) - 1);
    return before_[i / 64] + static_cast<uint32_t>(std::popcount(below));
  }

 private:
  std::vector<uint64_t> words_;
  std::vector<uint32_t> before_;  // by word
  size_t ones_ = 0;
};

}  // namespace heapgauge
