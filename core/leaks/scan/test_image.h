// A memory image of plain bytes, for tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "core/leaks/scan/memory_image.h"

namespace heapgauge::leaks {

class TestImage : public MemoryImage {
 public:
  // Zeros that can be read. REQUIRES: overlaps no other.
  void Map(uint64_t start, uint64_t size) { segments_[start].resize(size); }
  // REQUIRES: mapped.
  void Put(uint64_t address, uint64_t word) {
    auto it = --segments_.upper_bound(address);
    std::memcpy(it->second.data() + (address - it->first), &word, sizeof word);
  }
  uint64_t Get(uint64_t address) const {
    uint64_t word = 0;
    Read(address, sizeof word, &word);
    return word;
  }

  size_t Read(uint64_t address, size_t size, void* to) const override {
    size_t done = 0;
    while (done < size) {
      auto it = segments_.upper_bound(address + done);
      if (it == segments_.begin()) break;
      --it;
      const uint64_t offset = address + done - it->first;
      if (offset >= it->second.size()) break;
      const size_t part = std::min<size_t>(size - done, it->second.size() - offset);
      std::memcpy(static_cast<uint8_t*>(to) + done, it->second.data() + offset, part);
      done += part;
    }
    return done;
  }
  // Its parts need not begin with a page.
  uint64_t NextReadable(uint64_t address, uint64_t end) const override {
    const auto it = segments_.upper_bound(address);
    return it == segments_.end() ? end : std::min(end, it->first);
  }

 private:
  std::map<uint64_t, std::vector<uint8_t>> segments_;
};

}  // namespace heapgauge::leaks
