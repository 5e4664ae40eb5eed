// The profile: what every format is read into, every analysis works on and every writer starts
// from.
//
// A profile is a list of rows. A row is a stack with one value for each sample type, and labels.
// Stacks are paths in a trie that all rows share, so that a hundred thousand deep stacks stay small
// (stacks.h makes it). Values are whole numbers, as pprof and its formats have them, and are
// final: what a sample stands for is worked in. Where the sampling is known, `estimates` has the
// same figures before rounding and how sure they are. Live figures can be traced back to `blocks`,
// which keep size, interval and age of each sample; formats that only know sums leave both empty.
//
// Invariants, which every reader must establish (Check() tests them):
//   1. A node's parent has a smaller id, so walks to the root end. No stack is deeper than
//      kMaxDepth.
//   2. Every id is in range or kNone.
//   3. values.size() == rows.size() * sample_types.size(). A value may be negative: differences are
//      profiles too.
//   4. estimates is empty or as long as values; all its numbers are finite and, but for
//      differences, not negative.
//
// A value type; not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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
  LabelSetId labels = kNone;  // kNone: none
  bool truncated = false;     // the outermost frames are missing
  uint64_t samples = 0;       // ever taken here
  uint64_t live_samples = 0;  // of these, still live
};

// What a timeline is laid out by: nanoseconds, bytes allocated and freed so far, allocations and
// frees so far, or instructions (massif).
enum class TimeAxis { kTime, kBytes, kEvents, kInstructions };

struct TimelinePoint {
  uint64_t time_ns = 0;  // since the recording started
  uint64_t live_bytes = 0;
  uint64_t live_objects = 0;
  uint64_t allocated_bytes = 0;
  uint64_t freed_bytes = 0;
  uint64_t resident_bytes = 0;  // 0 unknown
  uint64_t samples = 0;
  uint64_t at = 0;  // if the axis is not time, the place on it: nobody knows the time then
};

struct Profile {
  static constexpr uint32_t kMaxDepth = 65535;

  RecordingFacts recording;
  std::vector<SampleType> sample_types;
  // The type that reports show unless asked for another; out of range: the format did not say, and
  // DefaultType() decides.
  size_t default_type = kNone;
  SampleType period_type;
  int64_t period = 0;
  int64_t time_ns = 0;      // when it was taken, since 1970; 0 unknown
  int64_t duration_ns = 0;  // how long it took; 0 unknown

  std::vector<Module> modules;
  std::vector<Location> locations;
  std::vector<Function> functions;
  std::vector<Frame> frames;
  std::vector<Node> nodes;
  bool distinct_nodes = false;  // a StackBuilder made them: equal stacks have one leaf
  std::vector<Row> rows;
  std::vector<int64_t> values;       // by row, then by type
  std::vector<Estimate> estimates;   // the same, or empty
  std::vector<std::string> strings;  // keys, texts and units of labels
  std::vector<LabelSet> label_sets;
  std::vector<Label> labels;
  std::vector<SampledBlock> blocks;
  std::vector<TimelinePoint> timeline;  // oldest first
  TimeAxis timeline_axis = TimeAxis::kTime;
  bool timeline_live_only = false;  // its points know the bytes that were live, and no more
  std::vector<std::string> comments;
  // Regular expressions over whole function names: frames to leave out with all they called, and
  // those that stay all the same. "" none.
  std::string drop_frames;
  std::string keep_frames;
  std::string doc_url;
  std::vector<UnknownFields> unknown_fields;  // sorted by owner and id
  // What the reader could not use, one line each, for the report to tell.
  std::vector<std::string> notes;

  int64_t value(RowId row, size_t type) const { return values[row * sample_types.size() + type]; }
  int64_t& value(RowId row, size_t type) { return values[row * sample_types.size() + type]; }
  // The value with how sure it is; a value that nobody sampled is certain.
  Estimate estimate(RowId row, size_t type) const;

  // The sum over all rows.
  Estimate Total(size_t type) const;

  // The type that reports show: the one the profile names, otherwise the last. REQUIRES: there is
  // one.
  size_t DefaultType() const {
    return default_type < sample_types.size() ? default_type : sample_types.size() - 1;
  }

  // Labels of a row, none if it has none.
  std::span<const Label> LabelsOf(RowId row) const;

  // Makes `values` from `estimates`. For readers of sampled formats.
  void RoundEstimates();

  // Locations of a row, innermost first, appended to `out` after clearing it.
  void StackOf(RowId row, std::vector<LocationId>* out) const;

  // The sample type of that name, or sample_types.size().
  size_t FindType(std::string_view name) const;

  // Tells which invariant is broken, if any. For tests and after reading foreign files.
  Status Check() const;
};

// Takes rows out of a profile, with all that belongs to them.
//
// Rows that stay keep their order. Nodes, locations and labels stay as they are. REQUIRES: one
// entry for each row.
void KeepRows(const std::vector<bool>& keep, Profile* profile);

// A copy of a profile for who changes its stacks and rows and looks at values alone, as pprof's
// filters and graphs do. What stands behind the values (estimates, blocks) is half of a large
// profile and stays behind, and so do the timeline and the notes.
//
// A pure function.
Profile CopyOfValues(const Profile& profile);

// The program itself as the first module of a profile: tools take the first mapping for it, and in
// a recording the first stack may well lead through the dynamic linker.
//
// By the path in `recording`; nothing happens if no module has it. Changes ids: to be called when
// names that the file brings by these have been attached.
void PutProgramFirst(Profile* profile);

}  // namespace heapgauge
