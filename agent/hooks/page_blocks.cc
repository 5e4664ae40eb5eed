#include "agent/hooks/page_blocks.h"

#include "agent/hooks/entry_table.h"

namespace heapgauge::agent {

constinit PageBlocks page_blocks{};

void PageBlocks::Fill() {
  for (auto& place : blocks_) {
    const uintptr_t block = Real<uintptr_t(size_t, size_t)>(kFn_memalign)(4096, kBlockBytes);
    if (block == 0) return;
    uintptr_t none = 0;
    if (!place.compare_exchange_strong(none, block)) Real<void(uintptr_t)>(kFn_free)(block);
  }
}

uintptr_t PageBlocks::Take() {
  for (auto& place : blocks_) {
    if (place.load(std::memory_order_relaxed) == 0) continue;
    if (const uintptr_t block = place.exchange(0)) return block;
  }
  return 0;
}

bool PageBlocks::IsOne(uintptr_t block) {
  if ((block & 4095) != 0) return false;
  const size_t usable = Real<size_t(uintptr_t)>(kFn_malloc_usable_size)(block);
  return usable >= kBlockBytes && usable < kBlockBytes + 64;
}

bool PageBlocks::Keep(uintptr_t block) {
  if (!IsOne(block)) return false;
  for (auto& place : blocks_) {
    uintptr_t none = 0;
    if (place.load(std::memory_order_relaxed) != 0) continue;
    if (place.compare_exchange_strong(none, block)) return true;
  }
  return false;
}

}  // namespace heapgauge::agent
