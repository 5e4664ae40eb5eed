// The mappings of a traced program by address range, for munmap may take any part of any number of
// them. There are few of them and they change rarely, compared with blocks.
//
// One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace heapgauge::trace {

class MappingTable {
 public:
  struct Cut {
    uint32_t slot = 0;  // of the mapping that was there
    uint64_t start = 0;
    uint64_t end = 0;
    // What is left of it before and behind the part that goes; nothing where both are equal.
    uint64_t left_end = 0;     // [start, left_end)
    uint64_t right_start = 0;  // [right_start, end)
  };
  // Takes out all mappings that overlap [start, end).
  std::vector<Cut> Remove(uint64_t start, uint64_t end);
  // REQUIRES: nothing overlaps it, start < end.
  void Insert(uint64_t start, uint64_t end, uint32_t slot) { ranges_[start] = {end, slot}; }
  size_t size() const { return ranges_.size(); }

 private:
  struct Range {
    uint64_t end = 0;
    uint32_t slot = 0;
  };
  std::map<uint64_t, Range> ranges_;
};

}  // namespace heapgauge::trace
