// Writes heaptrack's data files, interpreted ones of version 3, which heaptrack_print and
// heaptrack_gui read: event by event from a trace, or the live blocks of a profile.
//
// Written piece by piece. Tables are written when something first needs them, as heaptrack does.
// Memory: 16 bytes for each distinct pair of stack and size, some more for stacks and names.
// Single-threaded.
#pragma once

#include <sys/auxv.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/model/profile.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge {

// Numbers for pairs of a size and a stack, in order of appearance, from 1. There may be ten
// millions of them: one block of memory, and a hash that no choice of sizes makes slow.
class PairNumbers {
 public:
  PairNumbers() : slots_(1024) {
    const auto* random = reinterpret_cast<const char*>(getauxval(AT_RANDOM));
    if (random != nullptr) std::memcpy(&key_, random, sizeof key_);
  }

  // The number of the pair. `is_new` is set if it got one now, the next.
  uint32_t Find(uint64_t size, uint32_t stack, bool* is_new) {
    if (2 * (count_ + 1) > slots_.size()) Grow();
    Slot& slot = slots_[Place(size, stack)];
    *is_new = slot.number == kFree;
    if (*is_new) slot = {size, stack, ++count_};
    return slot.number;
  }

 private:
  static constexpr uint32_t kFree = UINT32_MAX;
  struct Slot {
    uint64_t size = 0;
    uint32_t stack = 0;
    uint32_t number = kFree;
  };

  size_t Place(uint64_t size, uint32_t stack) const {
    uint64_t hash = (size ^ key_) * 0x9e3779b97f4a7c15;
    hash = (hash ^ hash >> 32 ^ stack) * (key_ | 1);
    hash = (hash ^ hash >> 29) * 0xd6e8feb86659fd93;
    size_t at = static_cast<size_t>(hash >> 20) & (slots_.size() - 1);
    while (slots_[at].number != kFree && (slots_[at].size != size || slots_[at].stack != stack)) {
      at = (at + 1) & (slots_.size() - 1);
    }
    return at;
  }
  void Grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number != kFree) slots_[Place(slot.size, slot.stack)] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two, at most half full
  uint32_t count_ = 0;
  uint64_t key_ = 0;
};

// The lines of a file. Names are those that the profile has, so it must be symbolized.
class HeaptrackWriter {
 public:
  HeaptrackWriter(const Profile& profile, TextSink* out) : profile_(profile), out_(out) {}

  // First of all. Each comment is one line.
  void Begin(const std::vector<std::string>& comments);
  // `leaf` is one of the profile, or kNone.
  void Allocate(uint64_t size, NodeId leaf);
  void Free(uint64_t size, NodeId leaf);
  void Time(uint64_t milliseconds);
  void Resident(uint64_t bytes);
  // Must be called now and then, and at the end: what failed, failed for good.
  Status Flush(bool all);

 private:
  void Line(char mode, std::initializer_list<uint64_t> fields);
  uint32_t String(const std::string& text);  // 0 for ""
  uint32_t Instruction(LocationId location);
  uint32_t Stack(NodeId leaf);  // 0 for none
  uint32_t Pair(uint64_t size, NodeId leaf);

  const Profile& profile_;
  TextSink* out_;
  std::string text_;
  std::unordered_map<std::string, uint32_t> strings_;
  std::vector<uint32_t> instructions_;  // by location, 0 not written yet
  std::vector<uint32_t> stacks_;        // by node
  uint32_t instruction_count_ = 0;
  uint32_t stack_count_ = 0;
  PairNumbers pairs_;
};

// Live blocks that are never freed: of a profile, nothing else is known one by one. A row with n
// blocks and b bytes becomes n blocks of b/n bytes, some of them one byte larger, so that sums
// stay. Fails if the profile has no figures of memory in use, or more blocks than anybody could
// read.
struct HeaptrackExport {
  uint64_t allocations = 0;
  uint64_t skipped_rows = 0;  // with bytes but no block, or less than nothing
};
Result<HeaptrackExport> WriteHeaptrack(const Profile& profile, const std::vector<bool>& selected,
                                       TextSink* out);

// Every event in order, but for mappings, with times and resident memory. `stacks` are the trace's,
// symbolized.
Result<HeaptrackExport> WriteHeaptrack(const trace::TraceFile& trace,
                                       const trace::TraceFile::Stacks& stacks,
                                       ProgressSink* progress, TextSink* out);

}  // namespace heapgauge
