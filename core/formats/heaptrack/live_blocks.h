// Blocks of a heaptrack file that are live while it becomes a trace: found by address, or, where
// the file has none, by the pair of size and stack.
//
// Not synchronised.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/formats/heaptrack/address_map.h"

namespace heapgauge {

struct LiveHeaptrackBlock {
  uint64_t number = 0;
  uint64_t birth_ns = 0;
  uint64_t address = 0;
  uint64_t size = 0;
  uint32_t stack = 0;  // of the trace
};

class LiveBlocks {
 public:
  // True if the address was taken: `replaced` was there, and is not any more.
  bool AddByAddress(const LiveHeaptrackBlock& block, LiveHeaptrackBlock* replaced) {
    return by_address_.Put(block.address, block, replaced);
  }
  bool TakeByAddress(uint64_t address, LiveHeaptrackBlock* block) {
    return by_address_.Take(address, block);
  }

  void AddByPair(uint32_t pair, const LiveHeaptrackBlock& block) {
    if (pair >= pairs_.size()) pairs_.resize(size_t{pair} + 1);
    const uint32_t link = NewLink();
    List& list = pairs_[pair];
    links_[link] = {block, list.newest, kNone};
    if (list.newest != kNone) links_[list.newest].newer = link;
    if (list.oldest == kNone) list.oldest = link;
    list.newest = link;
    ++count_;
  }
  // False if there is none. `several`: it was not the only one.
  bool TakeByPair(uint32_t pair, bool newest, LiveHeaptrackBlock* block, bool* several) {
    if (pair >= pairs_.size() || pairs_[pair].oldest == kNone) return false;
    List& list = pairs_[pair];
    const uint32_t link = newest ? list.newest : list.oldest;
    *several = list.newest != list.oldest;
    const Link its = links_[link];
    *block = its.block;
    (its.older == kNone ? list.oldest : links_[its.older].newer) = its.newer;
    (its.newer == kNone ? list.newest : links_[its.newer].older) = its.older;
    links_[link].older = free_;
    free_ = link;
    --count_;
    return true;
  }

  size_t size() const { return by_address_.size() + count_; }

  // All of them, in order of their numbers.
  std::vector<LiveHeaptrackBlock> All() const {
    std::vector<LiveHeaptrackBlock> blocks;
    blocks.reserve(size());
    by_address_.ForEach(
        [&](uint64_t, const LiveHeaptrackBlock& block) { blocks.push_back(block); });
    for (const List& list : pairs_) {
      for (uint32_t link = list.oldest; link != kNone; link = links_[link].newer) {
        blocks.push_back(links_[link].block);
      }
    }
    std::sort(blocks.begin(), blocks.end(),
              [](const LiveHeaptrackBlock& a, const LiveHeaptrackBlock& b) {
                return a.number < b.number;
              });
    return blocks;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Link {
    LiveHeaptrackBlock block;
    uint32_t older = kNone;
    uint32_t newer = kNone;
  };
  struct List {
    uint32_t oldest = kNone;
    uint32_t newest = kNone;
  };

  uint32_t NewLink() {
    if (free_ == kNone) {
      links_.emplace_back();
      return static_cast<uint32_t>(links_.size() - 1);
    }
    const uint32_t link = free_;
    free_ = links_[link].older;
    return link;
  }

  AddressHashMap<LiveHeaptrackBlock> by_address_;
  std::vector<List> pairs_;
  std::vector<Link> links_;
  uint32_t free_ = kNone;  // links that are not used, by `older`
  size_t count_ = 0;
};

}  // namespace heapgauge
