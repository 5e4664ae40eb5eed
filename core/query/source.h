// What the tables are about: a trace, or a profile of any format.
//
// Names are looked up, and a trace is read, only when a statement asks for them. Whoever works for
// long says so through `progress` and stops when `stop` is set or the deadline is over; all of
// these belong to the statement that runs.
//
// Not synchronised, but for `stop`.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/model/profile.h"
#include "core/query/names_in_stacks.h"
#include "core/query/segment_parts.h"
#include "core/trace/answer/exact_moment.h"
#include "core/trace/answer/stack_totals.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::query {

// What one stack did: its heap blocks, and what it mapped and did not unmap.
struct StackUse : trace::StackTotal {
  int64_t mapped_bytes = 0;

  void Add(const trace::StackSums& sums);
  uint64_t mapped() const { return mapped_bytes > 0 ? static_cast<uint64_t>(mapped_bytes) : 0; }
  bool empty() const {
    return allocated_blocks == 0 && allocated_bytes == 0 && freed_blocks == 0 && mapped_bytes == 0;
  }
};

using trace::ExactMoment;

class QuerySource {
 public:
  // Gives names to the locations of a profile.
  using Namer = std::function<void(Profile*)>;

  static std::unique_ptr<QuerySource> OfTrace(std::shared_ptr<const trace::TraceFile> trace,
                                              Namer namer);
  // The profile has its names.
  static std::unique_ptr<QuerySource> OfProfile(Profile profile);

  // Null for a profile.
  const trace::TraceFile* trace() const { return trace_.get(); }
  const RecordingFacts& recording() const;
  // The last moment that is known of.
  uint64_t end_ns() const;

  // Stacks and their names. For a trace they are read when they are first asked for.
  Result<NamesInStacks*> Names();
  // What is known without names; for a profile the same. It is there for good: Names() adds to it,
  // which may move what it consists of.
  Result<const Profile*> StacksOnly();
  // Of a trace: sums over all of it, by stack.
  Result<const std::vector<StackUse>*> Totals();
  // Of a trace.
  SegmentParts* segments() { return segments_.get(); }

  // Kernel ids of the threads, by index. A profile has those of its blocks.
  const std::vector<trace::Thread>& threads() const { return threads_; }
  // Index of a kernel id among them.
  uint32_t ThreadIndex(uint32_t id) const;

  // "1.5s", "peak", ... or a number of nanoseconds.
  Result<uint64_t> Moment(const std::string& text) const;
  // Of a trace: of its heap, mappings left out. Found once.
  Result<ExactMoment> Peak();

  void SetProgress(ProgressSink* progress) { progress_ = progress; }
  void Report(std::string_view what, uint64_t done, uint64_t total, std::string_view unit) const {
    if (progress_ != nullptr) progress_->Report(what, done, total, unit);
  }
  std::atomic<bool>& stop() { return stop_; }
  // Seconds from now; 0: none.
  void SetDeadline(double seconds);
  // Whether the statement shall end.
  bool IsOver();
  // Whether that was because of the deadline.
  bool timed_out() const { return timed_out_; }
  // While a table of ours is being declared, which SQLite takes for CREATE TABLE.
  bool declaring = false;
  // An error if the statement shall end.
  Status CheckStop();

 private:
  QuerySource() = default;

  std::shared_ptr<const trace::TraceFile> trace_;
  Namer namer_;
  std::unique_ptr<Profile> profile_;  // once it is read it stays where it is
  std::unique_ptr<NamesInStacks> names_;
  std::vector<StackUse> totals_;
  bool has_totals_ = false;
  std::unique_ptr<SegmentParts> segments_;
  std::vector<trace::Thread> threads_;
  uint64_t profile_end_ns_ = 0;
  std::optional<ExactMoment> peak_;
  ProgressSink* progress_ = nullptr;
  std::atomic<bool> stop_ = false;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  bool timed_out_ = false;
};

}  // namespace heapgauge::query
