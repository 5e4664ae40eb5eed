#include "core/leaks/verdict/parents_blocks.h"

#include <algorithm>

namespace heapgauge::leaks {

void HoldByParentsBlocks(const std::vector<KnownBlock>& blocks, Roots* roots) {
  size_t next = 0;
  for (const AddressRange& heap : roots->heap) {
    uint64_t start = heap.start;
    while (next < blocks.size() && blocks[next].address < heap.start) ++next;
    for (; next < blocks.size() && blocks[next].address < heap.end; ++next) {
      // Whole words: what a block and memory beside it share is the block's.
      const uint64_t end = blocks[next].address / 8 * 8;
      if (end > start) roots->ranges.push_back({{start, end}, RootKind::kMapping, 0, 0});
      start = std::max(start, (blocks[next].address + blocks[next].size + 7) / 8 * 8);
    }
    if (heap.end > start) roots->ranges.push_back({{start, heap.end}, RootKind::kMapping, 0, 0});
  }
  roots->heap.clear();
  std::sort(roots->ranges.begin(), roots->ranges.end(),
            [](const RootRange& a, const RootRange& b) { return a.range.start < b.range.start; });
}

}  // namespace heapgauge::leaks
