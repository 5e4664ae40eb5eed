// From a trace to a profile: once, or again and again of a trace that is kept open.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/model/profile.h"
#include "core/trace/answer/stack_figures.h"
#include "core/trace/answer/stack_totals.h"
#include "core/trace/answer/trace_filter.h"
#include "core/trace/answer/trace_moment.h"

namespace heapgauge::trace {

// Gives the locations of a profile their names.
using NameStacks = std::function<void(Profile*)>;

// From a trace to a profile: the live set of any moment, or what happened in a range of time, per
// stack. All reports that know profiles then work on it.
//
// Whole segments between two moments come from their sums, only those at the edges are read event
// by event: a range of any length costs about the same. Filters that look at single blocks (size,
// lifetime, thread) read the segments of the range.
//
// `name` is called if the filter asks about names; then the profile has them.
Result<Profile> ReadTraceProfile(const TraceFile& trace, const ProfileRequest& request,
                                 ProgressSink* progress = nullptr, const NameStacks& name = {});

// Makes a profile of the figures of stacks: rows, types, and the facts that reports open with.
// Nodes and locations that no row needs are left out, so that nobody looks for their names.
Result<Profile> ProfileOf(const TraceFile& trace, const TraceFile::Stacks& stacks,
                          const ProfileRequest& request, const StackAnswer& answer);

// A trace that is kept open and asked again and again, by a page or a shell: names of its stacks
// and sums of its beginning up to some moments stay in memory, so that the profile of any range
// costs the reading of two segments, however long the trace is. The last segments stay as well.
//
//   TraceAnswers answers(trace, name);
//   HG_ASSIGN(const Profile profile, answers.Ask(request));
//
// Thread-safe: the first question makes what is kept, others wait for it. Memory beside the names
// is bounded: SumsIndex::kBudget, and three segments.
class TraceAnswers {
 public:
  // `name` is called once, with the stacks of the whole trace; it may be empty.
  explicit TraceAnswers(std::shared_ptr<const TraceFile> trace, NameStacks name = {},
                        uint64_t budget = SumsIndex::kBudget);
  // The same for a trace that has grown (TraceFile::Renew): sums that `before` has are not made
  // again, unless it is being prepared just now, which may take long and is not waited for.
  TraceAnswers(std::shared_ptr<const TraceFile> trace, TraceAnswers* before);

  const TraceFile& trace() const { return *trace_; }

  // Makes what is kept, so that the first question is as quick as the others.
  Status Prepare(ProgressSink* progress = nullptr);
  Result<Profile> Ask(const ProfileRequest& request, ProgressSink* progress = nullptr);
  // All stacks of the trace, with names.
  Result<std::shared_ptr<const TraceFile::Stacks>> Stacks(ProgressSink* progress = nullptr);

 private:
  const std::shared_ptr<const TraceFile> trace_;
  const NameStacks name_;
  const uint64_t budget_;
  std::mutex mutex_;
  std::shared_ptr<const TraceFile::Stacks> stacks_;  // null: not made yet
  SumsIndex index_;
  SegmentCache segments_;
};

}  // namespace heapgauge::trace
