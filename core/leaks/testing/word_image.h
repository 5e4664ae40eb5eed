// Memory of some words, from one address on, that a test fills. Not for use outside of tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/leaks/scan/memory_image.h"

namespace heapgauge::leaks::testing {

class WordImage : public MemoryImage {
 public:
  WordImage(uint64_t start, size_t words) : start_(start), words_(words) {}

  size_t Read(uint64_t address, size_t size, void* to) const override {
    if (address < start_ || address >= end()) return 0;
    const size_t got = std::min<uint64_t>(size, end() - address);
    std::memcpy(to, reinterpret_cast<const char*>(words_.data()) + (address - start_), got);
    return got;
  }
  uint64_t& at(uint64_t address) { return words_.at((address - start_) / 8); }
  uint64_t start() const { return start_; }
  uint64_t end() const { return start_ + words_.size() * 8; }

 private:
  uint64_t start_;
  std::vector<uint64_t> words_;
};

}  // namespace heapgauge::leaks::testing
