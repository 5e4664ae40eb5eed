// Memory that reading a segment needs for a moment, kept for the next one: buffers of columns, what
// the decoder expects, a context of zstd.
//
// A Scratch serves one thread at a time; ScratchPool hands them out to any.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/trace/file/chunk.h"
#include "core/trace/file/expectation.h"
#include "core/trace/file/segment_columns.h"

namespace heapgauge::trace {

struct Scratch {
  ColumnBuffer columns[kSegmentColumns];
  Decompressor decompressor;
  Expectation expectation;
  std::vector<uint32_t> sorted;     // stacks of the segment
  std::vector<StackMemory> stacks;  // the same, in order of appearance
};

class ScratchPool {
 public:
  std::unique_ptr<Scratch> Take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<Scratch>();
    std::unique_ptr<Scratch> scratch = std::move(idle_.back());
    idle_.pop_back();
    return scratch;
  }
  void Return(std::unique_ptr<Scratch> scratch) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < kMaxIdle) idle_.push_back(std::move(scratch));
  }

 private:
  static constexpr size_t kMaxIdle = 4;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch>> idle_;
};

}  // namespace heapgauge::trace
