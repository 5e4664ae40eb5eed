// From stacks to functions: who holds the memory (flat) and through whom it was asked for (cum).
//
// Flat figures go to the innermost frame that is not part of allocating (see allocation_frames.h).
// Cumulative ones go to every function on the stack, once for each stack even if it calls itself.
// In place of functions there can be lines, files, modules or addresses; entities.h says when two
// frames count as the same.
//
// Pure; time is linear in the frames of all rows.
#ifndef HEAPGAUGE_CORE_FOLD_FUNCTIONS_H_
#define HEAPGAUGE_CORE_FOLD_FUNCTIONS_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/fold/entities.h"
#include "core/fold/measures.h"
#include "core/model/profile.h"

namespace heapgauge {

class Groundwork;

// The figures of a row, a function or a whole profile. In a profile that is not about live memory,
// `live_bytes` is its main figure, whatever that is (measures.h), and what it does not know is 0.
struct HeapFigures {
  Estimate live_bytes;
  Estimate allocated_bytes;
  double live_objects = 0;
  double allocated_objects = 0;
  uint64_t samples = 0;
  uint64_t live_samples = 0;
  double aged_bytes = 0;  // live bytes whose age is known
  double birth_sum = 0;   // their births, weighted by bytes
  uint64_t oldest_birth = ~uint64_t{0};

  void Add(const HeapFigures& other) {
    live_bytes.Add(other.live_bytes);
    allocated_bytes.Add(other.allocated_bytes);
    live_objects += other.live_objects;
    allocated_objects += other.allocated_objects;
    samples += other.samples;
    live_samples += other.live_samples;
    aged_bytes += other.aged_bytes;
    birth_sum += other.birth_sum;
    oldest_birth = std::min(oldest_birth, other.oldest_birth);
  }
  // There is something: blocks, be it of 0 bytes, or bytes.
  bool has_live() const { return live_bytes.value != 0 || live_objects != 0; }
  bool has_allocated() const { return allocated_bytes.value != 0 || allocated_objects != 0; }
  // Mean age of the live bytes and age of the oldest block at `now_ns`; 0 if not known.
  uint64_t MeanAge(uint64_t now_ns) const;
  uint64_t OldestAge(uint64_t now_ns) const;
};

// One for each row of the profile; row_figures.h has them one by one.
std::vector<HeapFigures> FiguresOfRows(const Profile& profile);

enum class SortKey { kLive, kAllocated, kCount, kAge };

// Which rows to look at: those with a function that matches `focus` and none that matches `ignore`
// (RE2, unanchored, "" for all), with all its parameters or as reports show it. In reports by file
// or module their paths can match as well.
struct RowFilter {
  std::string focus;
  std::string ignore;
};
// Fails if the pattern is not a regular expression.
Status CheckPattern(const std::string& pattern);
Result<std::vector<bool>> SelectRows(const Profile& profile, const RowFilter& filter,
                                     Granularity granularity = Granularity::kFunctions);

struct FunctionRow {
  EntityId entity = kNone;      // in FunctionReport::entities; kNone: stacks that cannot be read
  FunctionId function = kNone;  // one that belongs to it
  uint32_t frame = kNone;       // its heaviest frame: tells file and line
  HeapFigures flat;
  HeapFigures cum;
};

struct FunctionReport {
  Entities entities;
  Measures measures;
  std::vector<FunctionRow> rows;  // sorted, largest first
  HeapFigures total;              // of all rows of the profile
  HeapFigures selected;           // of those that passed the filter
};

struct FunctionOptions {
  RowFilter filter;
  Granularity granularity = Granularity::kFunctions;
  SortKey sort = SortKey::kLive;
  bool cumulative = false;  // sort by cumulative figures
  // Who reads flat figures alone can save nine tenths of the time: `cum` of the rows stays empty.
  bool flat_only = false;
};

// REQUIRES: not both `cumulative` and `flat_only`.
Result<FunctionReport> AggregateFunctions(const Profile& profile, const FunctionOptions& options);
Result<FunctionReport> AggregateFunctions(const Groundwork& groundwork,
                                          const FunctionOptions& options);

// The figure that a sort key stands for.
double SortValue(const HeapFigures& figures, SortKey key, uint64_t now_ns);

// A frame of a stack: the `k`th of the location at a node.
struct FramePlace {
  NodeId node = kNone;
  uint32_t k = 0;
};
// The frame that flat figures of this row go to; node kNone for an empty stack. `allocation_frames`
// is from CountAllocationFrames().
FramePlace FlatFrame(const Profile& profile, RowId row,
                     const std::vector<uint32_t>& allocation_frames);

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_FOLD_FUNCTIONS_H_
