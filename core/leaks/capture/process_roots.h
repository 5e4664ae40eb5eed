// The roots of a process, in ranges that do not overlap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/address_range.h"
#include "core/base/result.h"
#include "core/gauge/gauge_facts.h"
#include "core/leaks/capture/process_memory_image.h"
#include "core/leaks/scan/known_blocks.h"
#include "core/leaks/scan/memory_image.h"

namespace heapgauge::leaks {

// Collects ranges of roots so that none overlaps another: what was put in first stays.
//
// Plain value.
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

class SavedMemory;

struct RootsInput {
  uint32_t process = 0;       // whose memory is read: the copy, or the program itself
  uint32_t program = 0;       // the program
  bool threads_known = true;  // false: stacks of other threads than the given ones are there
  const std::vector<CapturedThread>* threads = nullptr;
  const std::vector<RootRegister>* in_kernel = nullptr;  // nullptr: none
  const std::vector<KnownBlock>* blocks = nullptr;
  const GaugeMemory* gauge = nullptr;  // nullptr: no agent
  // What was saved of the program, which runs: its mappings and pages are those of then.
  const SavedMemory* saved = nullptr;
  bool without_free = false;  // leave free memory out of the heap where the allocator tells
};

struct ProcessRoots {
  Roots roots;
  std::vector<AddressRange> readable;  // everything that can be read; merged
  // Of a copy: private memory that is empty in it and was not in the program (MADV_WIPEONFORK), by
  // address. It is given as no root, but may be the heap's.
  std::vector<AddressRange> wiped;
  std::vector<std::string> notes;
};

// The roots of a process: cuts its mappings into the heap, what can hold pointers to it, and the
// rest (code, what was only ever read, the agent's own memory, stacks of threads that have ended).
//
// Whose memory a mapping is comes from core/memory/ownership.h; threads and their stack pointers
// from the picture. Where the owner of memory is not known it counts as a root: rather a leak
// that is missed than one that is none.
//
// Reads /proc and the memory of the process, which must not run unless its memory was saved. Pages
// that were never touched are left out where the page map tells. Shared memory is taken as far as
// the process itself has touched it, because reading a hole of a shared file would fill it.
Result<ProcessRoots> FindRoots(const RootsInput& input, const MemoryImage& image);

}  // namespace heapgauge::leaks
