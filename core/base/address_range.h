// A half-open range of addresses, and sorted lists of them. Plain values, pure functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace heapgauge {

struct AddressRange {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t size() const { return end - start; }
  bool Holds(uint64_t address) const { return address >= start && address < end; }
  friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

// Sorted by address, empty ones dropped, those that touch or overlap made one.
inline std::vector<AddressRange> Merged(std::vector<AddressRange> ranges) {
  std::erase_if(ranges, [](const AddressRange& r) { return r.end <= r.start; });
  std::sort(ranges.begin(), ranges.end(),
            [](const AddressRange& a, const AddressRange& b) { return a.start < b.start; });
  std::vector<AddressRange> merged;
  for (const AddressRange& r : ranges) {
    if (!merged.empty() && r.start <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, r.end);
    } else {
      merged.push_back(r);
    }
  }
  return merged;
}

// The range of a merged list that holds the address; nullptr if none does.
inline const AddressRange* FindRange(const std::vector<AddressRange>& merged, uint64_t address) {
  auto it = std::upper_bound(merged.begin(), merged.end(), address,
                             [](uint64_t a, const AddressRange& r) { return a < r.start; });
  if (it == merged.begin()) return nullptr;
  --it;
  return address < it->end ? &*it : nullptr;
}

}  // namespace heapgauge
