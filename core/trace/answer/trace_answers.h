// A trace that is kept open and asked again and again, by a page or a shell: names of its stacks
// and sums of its beginning up to some moments stay in memory, so that the profile of any range
// costs the reading of two segments, however long the trace is. The last segments stay as well.
//
//   TraceAnswers answers(trace, name);
//   HG_ASSIGN(const Profile profile, answers.Ask(request));
//
// Thread-safe: the first question makes what is kept, others wait for it. Memory beside the names
// is bounded: SumsIndex::kBudget, and three segments.
#pragma once

#include <memory>
#include <mutex>

#include "core/base/result.h"
#include "core/trace/answer/stack_totals.h"
#include "core/trace/answer/trace_profile.h"

namespace heapgauge::trace {

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
