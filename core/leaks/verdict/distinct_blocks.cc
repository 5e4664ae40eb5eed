#include "core/leaks/verdict/distinct_blocks.h"

#include <algorithm>
#include <utility>

namespace heapgauge::leaks {

uint64_t MakeDistinct(std::vector<KnownBlock>* blocks) {
  std::sort(blocks->begin(), blocks->end(), [](const KnownBlock& a, const KnownBlock& b) {
    return a.address != b.address ? a.address < b.address : a.birth_ns < b.birth_ns;
  });
  std::vector<KnownBlock> distinct;
  distinct.reserve(blocks->size());
  for (const KnownBlock& block : *blocks) {
    bool counts = true;
    while (block.address != 0 && !distinct.empty()) {
      const KnownBlock& last = distinct.back();
      if (block.address - last.address >= std::max<uint64_t>(last.size, 1)) break;
      if (last.birth_ns > block.birth_ns) {
        counts = false;
        break;
      }
      distinct.pop_back();
    }
    if (counts) distinct.push_back(block);
  }
  const uint64_t dropped = blocks->size() - distinct.size();
  *blocks = std::move(distinct);
  return dropped;
}

}  // namespace heapgauge::leaks
