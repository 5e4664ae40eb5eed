// From stacks to functions: who holds the memory (flat) and through whom it was asked for (cum).
//
// Flat figures go to the innermost frame that is not part of allocating (see frames.h).
// Cumulative ones go to every function on the stack, once for each stack even if it calls itself.
// In place of functions there can be lines, files, modules or addresses; frames.h says when two
// frames count as the same.
//
// Pure; time is linear in the frames of all rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/fold/frames.h"
#include "core/fold/groundwork.h"
#include "core/fold/measures.h"
#include "core/model/profile.h"

namespace heapgauge {

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

// Which figure of a profile rows are sorted by: the choice that every report and every page makes,
// made in one place.
//
// Pure functions.

// "live", "allocated", "count", "age"
const char* SortName(SortKey key);

// That key, or what the profile is about. Fails if it has nothing to sort by so.
Result<SortKey> ChooseSort(std::optional<SortKey> asked, const Profile& profile);

// The sample type that a format with a single value gets.
size_t TypeOf(const Profile& profile, SortKey sort);

}  // namespace heapgauge
