#include "core/trace/record/mapping_table.h"

#include <algorithm>
#include <iterator>

namespace heapgauge::trace {

std::vector<MappingTable::Cut> MappingTable::Remove(uint64_t start, uint64_t end) {
  std::vector<Cut> cuts;
  auto it = ranges_.lower_bound(start);
  if (it != ranges_.begin() && std::prev(it)->second.end > start) --it;
  while (it != ranges_.end() && it->first < end) {
    Cut cut;
    cut.slot = it->second.slot;
    cut.start = it->first;
    cut.end = it->second.end;
    cut.left_end = std::max(cut.start, start);
    cut.right_start = std::min(cut.end, end);
    cuts.push_back(cut);
    it = ranges_.erase(it);
  }
  return cuts;
}

}  // namespace heapgauge::trace
