// What the tables are about: a trace, or a profile of any format, with the names of its stacks and
// the segments read last.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/fold/functions.h"
#include "core/model/profile.h"
#include "core/trace/answer/stack_totals.h"
#include "core/trace/answer/trace_position.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::query {

// The parts of segments that were read last. A scan reads each once; looking up single blocks by
// their numbers, as joins do, comes back to the same ones again and again.
//
// It also counts what was really read, which is how tests know that a question about one second
// does not touch the rest of the trace. Not synchronised.
class SegmentParts {
 public:
  explicit SegmentParts(const trace::TraceFile& trace) : trace_(trace) {}

  // At least these parts of a segment.
  Result<std::shared_ptr<const trace::Segment>> Read(size_t index, uint32_t parts);

  uint64_t reads() const { return reads_; }  // of the file
  uint64_t parts_read() const { return parts_read_; }

 private:
  static constexpr size_t kKept = 3;
  struct Entry {
    size_t index = 0;
    uint32_t parts = 0;
    std::shared_ptr<trace::Segment> segment;
  };

  const trace::TraceFile& trace_;
  std::list<Entry> entries_;  // the last used first
  uint64_t reads_ = 0;
  uint64_t parts_read_ = 0;  // kinds of parts, one bit each
};

// What the stacks of a source are called: the function that a stack is counted for, its module,
// its frames as one line, and whether a regular expression matches any of them.
//
// A stack is named by a number. In a trace that is the trace's own, where 0 is the unknown stack;
// in a profile it is the row's, from 1 on.
//
// A regular expression is looked for once in each location and then handed down the trie, so asking
// about a million stacks costs a bit for each. The last expressions are remembered. Not
// synchronised.
class NamesInStacks {
 public:
  // The rows of `profile` are the stacks; the number of the first one is `first`. Locations have
  // their names. The profile must outlive this and stay as it is.
  NamesInStacks(const Profile& profile, uint32_t first);

  const Profile& profile() const { return profile_; }
  uint32_t first() const { return first_; }
  // Numbers are below.
  uint32_t end() const { return first_ + static_cast<uint32_t>(profile_.rows.size()); }
  bool has(uint64_t stack) const { return stack >= first_ && stack < end(); }

  // All of these REQUIRE has(stack). Texts live as long as this.
  const Row& row(uint32_t stack) const { return profile_.rows[stack - first_]; }
  std::string_view function(uint32_t stack) const;
  std::string_view module(uint32_t stack) const;
  uint32_t depth(uint32_t stack) const;  // frames, inlined ones included
  // Outermost first, separated by semicolons.
  std::string Collapsed(uint32_t stack) const;

  const std::string& frame_name(uint32_t frame) const { return frame_names_[frame]; }

  // By node: whether it or a node further out has a frame whose function, source file or module
  // matches. Fails if the expression is none.
  Result<std::shared_ptr<const std::vector<bool>>> Matching(std::string_view pattern);
  bool Matches(const std::vector<bool>& matching, uint32_t stack) const {
    const NodeId leaf = row(stack).leaf;
    return leaf != kNone && matching[leaf];
  }

 private:
  const Profile& profile_;
  uint32_t first_;
  std::vector<std::string> frame_names_;
  std::vector<uint32_t> allocation_frames_;
  std::vector<uint32_t> depth_;  // by node
  std::map<std::string, std::shared_ptr<const std::vector<bool>>, std::less<>> matching_;
};

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

// What the tables are about: a trace, or a profile of any format.
//
// Names are looked up, and a trace is read, only when a statement asks for them. Whoever works for
// long says so through `progress` and stops when `stop` is set or the deadline is over; all of
// these belong to the statement that runs.
//
// Not synchronised, but for `stop`.
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
