// The profile: what every format is read into, every analysis works on and every writer starts
// from.
//
// A profile is a list of rows. A row is a stack with one estimate for each sample type. Stacks are
// paths in a trie that all rows share, so that a hundred thousand deep stacks stay small. Live
// figures can be traced back to `blocks`, which keep size, interval and age of each sample; formats
// that only know sums leave `blocks` empty.
//
// Invariants, which every reader must establish (Check() tests them):
//   1. A node's parent has a smaller id, so walks to the root end. No stack is deeper than
//   kMaxDepth.
//   2. Every id is in range or kNone.
//   3. values.size() == rows.size() * sample_types.size(); all numbers are finite and not negative.
//
// A value type; not synchronised.
#ifndef HEAPGAUGE_CORE_MODEL_PROFILE_H_
#define HEAPGAUGE_CORE_MODEL_PROFILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/estimate.h"
#include "core/model/recording.h"
#include "core/model/types.h"

namespace heapgauge {

// The sample types of a heap profile, in the order that pprof's own heap profiles have.
enum HeapType : size_t {
  kAllocObjects = 0,
  kAllocSpace = 1,
  kInuseObjects = 2,
  kInuseSpace = 3,
  kHeapTypes = 4,
};
std::vector<SampleType> HeapSampleTypes();
// The same four for mappings: mmap_alloc_objects, mmap_alloc_space, mmap_objects, mmap_space.
std::vector<SampleType> MmapSampleTypes();

struct Row {
  NodeId leaf = kNone;        // kNone: the stack is empty
  bool truncated = false;     // the outermost frames are missing
  uint64_t samples = 0;       // ever taken here
  uint64_t live_samples = 0;  // of these, still live
};

struct TimelinePoint {
  uint64_t time_ns = 0;  // since the recording started
  uint64_t live_bytes = 0;
  uint64_t live_objects = 0;
  uint64_t allocated_bytes = 0;
  uint64_t freed_bytes = 0;
  uint64_t resident_bytes = 0;  // 0 unknown
  uint64_t samples = 0;
};

struct Profile {
  static constexpr uint32_t kMaxDepth = 4096;

  Recording recording;
  std::vector<SampleType> sample_types;
  size_t default_type = 0;
  SampleType period_type;
  uint64_t period = 0;

  std::vector<Module> modules;
  std::vector<Location> locations;
  std::vector<Function> functions;
  std::vector<Frame> frames;
  std::vector<Node> nodes;
  std::vector<Row> rows;
  std::vector<Estimate> values;
  std::vector<Block> blocks;
  std::vector<TimelinePoint> timeline;  // oldest first
  std::vector<std::string> comments;
  // What the reader could not use, one line each, for the report to tell.
  std::vector<std::string> notes;

  Estimate& value(RowId row, size_t type) { return values[row * sample_types.size() + type]; }
  const Estimate& value(RowId row, size_t type) const {
    return values[row * sample_types.size() + type];
  }

  // The sum over all rows.
  Estimate Total(size_t type) const;

  // Locations of a row, innermost first, appended to `out` after clearing it.
  void StackOf(RowId row, std::vector<LocationId>* out) const;

  // The sample type of that name, or sample_types.size().
  size_t FindType(std::string_view name) const;

  // Tells which invariant is broken, if any. For tests and after reading foreign files.
  Status Check() const;
};

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_MODEL_PROFILE_H_
