// What changed between profiles: functions that are new, gone, grown, shrunk, and whether a change
// is more than chance. Two samplings of the same heap differ; a report that ranks such differences
// sends people after nothing.
//
// What is the same in all of them goes by names where the profiles are of different builds or tools
// (match_across.h).
//
// Profiles of one process in which blocks can be followed are compared by block: what is in both
// was the same memory, sampled once, and adds nothing to the uncertainty; what is in one of them
// came or went. Otherwise the profiles count as independent, which errs on the side of caution.
//
// Pure; time is linear in the frames of all rows of all profiles.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/fold/functions.h"
#include "core/fold/statistics.h"
#include "core/model/profile.h"

namespace heapgauge {

enum class ChangeKind { kNew, kGone, kGrown, kShrunk, kSame };
// "new", "gone", "grown", "shrunk", "same".
const char* ChangeKindName(ChangeKind kind);

// A figure before and after. One that is the same for another number of blocks has changed, too.
// With a block by block comparison, `came` and `went` add up to the change.
struct Change {
  Estimate before;
  Estimate after;
  Estimate came;  // in the later profile alone
  Estimate went;  // in the earlier profile alone
  double change = 0;
  double objects_before = 0;  // 0 where the comparison has no objects
  double objects_after = 0;
  Interval range;              // of the change, 95 %
  bool beyond_chance = false;  // the range does not reach 0, or exact figures differ
  ChangeKind kind = ChangeKind::kSame;

  // There is something on that side: blocks, be it of 0 bytes, or bytes.
  bool has_before() const { return before.value != 0 || objects_before != 0; }
  bool has_after() const { return after.value != 0 || objects_after != 0; }
  double objects_change() const { return objects_after - objects_before; }
};

struct ChangeRow {
  // Index into rows of the first and last report; kNone: not there.
  uint32_t in_before = kNone;
  uint32_t in_after = kNone;
  Change figures;
  std::vector<double> series;  // of the figure, one for each profile
  size_t rises = 0;            // steps from one profile to the next that go up
  size_t falls = 0;
};

struct Comparison {
  FunctionReport before;  // of the first profile
  FunctionReport after;   // of the last
  bool by_allocated = false;
  bool by_count = false;        // figures are blocks, as the measures of both reports say
  bool same_process = false;    // all profiles are of one process
  bool by_block = false;        // blocks were followed
  bool has_ranges = false;      // sampled, so that changes have ranges
  bool has_objects = false;     // first and last tell how many blocks the figure is of
  Change total;                 // of what the filter selects
  std::vector<double> series;   // of the total
  std::vector<ChangeRow> rows;  // by size of the change, largest first; then by that of objects
};

// Fails if the two count different things.
Status CheckComparable(const Profile& first, const Profile& other);

// From the first to the last of at least two profiles; those between fill in the series. `sort`
// chooses the figure: kAllocated, kCount where all of them count blocks, or the main one. Fails if
// the profiles count different things.
Result<Comparison> Compare(const std::vector<const Profile*>& profiles,
                           const FunctionOptions& options);

}  // namespace heapgauge
