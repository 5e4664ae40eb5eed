// Blocks of a heaptrack file that are live while it becomes a trace: found by address, or, where
// the file has none, by the pair of size and stack.
//
// Not synchronised.
#pragma once

#include <sys/auxv.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace heapgauge {

// Live blocks by their address, for formats whose frees name nothing else.
//
// Open addressing in one piece of memory; what is taken out leaves no mark. The hash is keyed by a
// number that no file can know, so no choice of addresses makes it slow.
template <typename Value>
class AddressHashMap {
 public:
  AddressHashMap() : slots_(1024) {
    const auto* random = reinterpret_cast<const char*>(getauxval(AT_RANDOM));
    if (random != nullptr) std::memcpy(&key_, random, sizeof key_);
  }

  size_t size() const { return count_; }

  // Puts a value in place of the one that the address had. Returns whether it had one.
  bool Put(uint64_t address, const Value& value, Value* replaced) {
    if (2 * (count_ + 1) > slots_.size()) Grow();
    Slot& slot = slots_[Find(address)];
    const bool was_used = slot.used;
    if (was_used) {
      *replaced = slot.value;
    } else {
      ++count_;
    }
    slot = {address, value, true};
    return was_used;
  }

  // Removes the address; false if it is not there.
  bool Take(uint64_t address, Value* value) {
    size_t hole = Find(address);
    if (!slots_[hole].used) return false;
    *value = slots_[hole].value;
    --count_;
    // What stands behind moves up if its way leads over the hole.
    const size_t mask = slots_.size() - 1;
    for (size_t at = (hole + 1) & mask; slots_[at].used; at = (at + 1) & mask) {
      const size_t home = HomeOf(slots_[at].address);
      if (((at - home) & mask) < ((at - hole) & mask)) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole] = {};
    return true;
  }

  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const Slot& slot : slots_) {
      if (slot.used) visit(slot.address, slot.value);
    }
  }

 private:
  struct Slot {
    uint64_t address = 0;
    Value value{};
    bool used = false;
  };

  size_t HomeOf(uint64_t address) const {
    uint64_t hash = (address ^ key_) * 0x9e3779b97f4a7c15;
    hash = (hash ^ hash >> 32) * (key_ | 1);
    return static_cast<size_t>(hash ^ hash >> 29) & (slots_.size() - 1);
  }
  // Of the address, or where it would be put.
  size_t Find(uint64_t address) const {
    size_t at = HomeOf(address);
    while (slots_[at].used && slots_[at].address != address) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void Grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.used) slots_[Find(slot.address)] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two, at most half full
  size_t count_ = 0;
  uint64_t key_ = 0;  // the kernel's gift to this process
};

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
