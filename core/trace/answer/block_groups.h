// How many blocks, how many bytes, and whom they are counted for.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/fold/frames.h"
#include "core/trace/file/block.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::trace {

// How many blocks, and how many bytes they are. Plain data.
struct BlockCount {
  uint64_t blocks = 0;
  uint64_t bytes = 0;

  void Add(uint64_t size) {
    ++blocks;
    bytes += size;
  }
  void Add(const BlockCount& other) {
    blocks += other.blocks;
    bytes += other.bytes;
  }
  friend bool operator==(const BlockCount&, const BlockCount&) = default;
};

// Whom blocks are counted for: the stack, the function or the module that asked for them, or the
// thread. A function is the innermost one that is not part of allocating, as in all reports.
//
// Built once from named stacks; read-only afterwards. Refers to the profile by ids only.
enum class GroupBy { kFunction, kStack, kModule, kThread };
const char* GroupByName(GroupBy by);  // "function", ...
GroupBy GroupByOf(std::string_view name);

class BlockGroups {
 public:
  // `threads` is how many the trace knows.
  BlockGroups(const TraceFile::Stacks& stacks, GroupBy by, size_t threads);

  GroupBy by() const { return by_; }
  // Numbers of groups are below. The last one is for what is not known.
  uint32_t size() const { return size_; }
  uint32_t unknown() const { return size_ - 1; }
  uint32_t Of(const Block& block) const {
    return by_ == GroupBy::kThread ? OfThread(block.thread) : OfStack(block.stack);
  }
  // REQUIRES: not by thread.
  uint32_t OfStack(uint32_t stack) const {
    return stack < of_stack_.size() ? of_stack_[stack] : unknown();
  }
  uint32_t OfThread(uint32_t thread) const { return thread < unknown() ? thread : unknown(); }

  // What the groups are called by: functions or modules.
  const Entities& entities() const { return entities_; }
  // The entity of a group (of a stack: of its innermost frame that does not allocate); kNone if
  // there is none. REQUIRES: not by thread.
  EntityId EntityOf(uint32_t group) const;
  // A frame of it, for file and line; kNone if there is none.
  uint32_t FrameOf(uint32_t group) const;

 private:
  GroupBy by_;
  uint32_t size_ = 1;
  Entities entities_;
  std::vector<uint32_t> of_stack_;
  std::vector<EntityId> entity_of_;  // by group
  std::vector<uint32_t> frame_of_;
};

}  // namespace heapgauge::trace
