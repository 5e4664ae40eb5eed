// Collects ranges of roots so that none overlaps another: what was put in first stays.
//
// Plain value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "core/base/address_range.h"
#include "core/leaks/scan/roots.h"

namespace heapgauge::leaks {

class RootList {
 public:
  // The part of the range that nothing was put in for yet.
  void Add(const RootRange& range) {
    for (const AddressRange& free : Free(range.range)) {
      RootRange part = range;
      part.range = free;
      ranges_[free.start] = {free.end, part, true};
    }
  }
  // The same, but it is no root.
  void Exclude(const AddressRange& range) {
    for (const AddressRange& free : Free(range)) ranges_[free.start] = {free.end, {}, false};
  }
  // What of the range is not taken.
  std::vector<AddressRange> Free(const AddressRange& range) const {
    std::vector<AddressRange> free;
    uint64_t at = range.start;
    auto it = ranges_.upper_bound(at);
    if (it != ranges_.begin()) at = std::max(at, std::prev(it)->second.end);
    for (; at < range.end; ++it) {
      const uint64_t end = it == ranges_.end() ? range.end : std::min(it->first, range.end);
      if (at < end) free.push_back({at, end});
      if (it == ranges_.end()) break;
      at = std::max(at, it->second.end);
    }
    return free;
  }
  // The roots, by address.
  std::vector<RootRange> Finish() const {
    std::vector<RootRange> roots;
    for (const auto& [start, taken] : ranges_) {
      if (taken.is_root) roots.push_back(taken.range);
    }
    return roots;
  }

 private:
  struct Taken {
    uint64_t end = 0;
    RootRange range;
    bool is_root = false;
  };
  std::map<uint64_t, Taken> ranges_;  // by start, without overlaps
};

}  // namespace heapgauge::leaks
