// Which blocks of a trace a question is about: the one filter that all reports, the query tables
// and the pages share. All conditions that are set must hold.
//
// Plain data; Compile makes it quick to ask. Regular expressions are over function names, modules
// and source files of any frame of the stack, so stacks must be symbolized first.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/trace/answer/trace_position.h"
#include "core/trace/file/block.h"
#include "core/trace/file/moment.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::trace {

struct BlockFilter {
  TraceRange born;
  // Live at each of these moments: "allocated in A and still live at B" is `born` and one of these.
  std::vector<TraceMoment> live_at;
  uint64_t least_size = 0;
  uint64_t greatest_size = UINT64_MAX;
  // Of a block that was never freed: up to the end of the trace.
  uint64_t least_lifetime_ns = 0;
  uint64_t greatest_lifetime_ns = UINT64_MAX;
  std::optional<bool> freed;
  std::optional<uint32_t>
      temporary_within;                  // distance <= this; 0: freed before the next allocation
  std::optional<bool> by_realloc;        // realloc made it, or made it into another
  std::optional<bool> mappings = false;  // only mappings, only heap blocks (the default), both
  std::vector<uint32_t> threads;         // kernel ids; empty: all
  std::string thread_name;               // regular expression; "" all
  std::string stack, not_stack;          // any frame: function, source file or module
  std::string function, not_function;
  std::string module, not_module;
  std::string source, not_source;

  bool asks_about_stacks() const;
  // Nothing but ranges of time and stacks: sums per segment answer it.
  bool only_time_and_stacks() const;
  // One of the moments in it is set.
  bool asks_about_times() const;
  // A block that is just born may match or not: its death decides.
  bool asks_about_fate() const;
  // Which Parts blocks must be read with for it, besides the blocks themselves.
  uint32_t needed_parts() const { return by_realloc ? kDetails : 0U; }
  // "at least 1.0 MB, freed, function ~ Cache::", without what is as by default.
  std::string Text() const;

  friend bool operator==(const BlockFilter&, const BlockFilter&) = default;
};

// What the filter cannot know of this trace, one line each, for reports to tell.
std::vector<std::string> NotesOn(const BlockFilter& filter, const TraceFile& trace);

// Ready to be asked about many blocks. Thread-safe.
class Matcher {
 public:
  static Result<Matcher> Compile(const BlockFilter& filter, const TraceFile& trace,
                                 const TraceFile::Stacks& symbolized);
  // REQUIRES: the block is as at its death, or live at the end of the trace, and was read with
  // BlockFilter::needed_parts().
  bool Matches(const Block& block) const {
    return MatchesStack(block.stack) && MatchesThread(block.thread) && MatchesRest(block);
  }
  bool MatchesStack(uint32_t stack) const {
    return stacks_.empty() || (stack < stacks_.size() && stacks_[stack]);
  }
  bool MatchesThread(uint32_t thread) const {
    return threads_.empty() || (thread < threads_.size() && threads_[thread]);
  }
  const BlockFilter& filter() const { return filter_; }

 private:
  bool MatchesRest(const Block& block) const;

  BlockFilter filter_;
  uint64_t end_ns_ = 0;
  std::optional<ExactMoment> born_after_;  // BlockFilter::born, as far as it is not the whole trace
  std::optional<ExactMoment> born_by_;
  std::vector<ExactMoment> live_at_;
  std::vector<bool> stacks_;   // by number; empty: all match
  std::vector<bool> threads_;  // by index; empty: all match
};

}  // namespace heapgauge::trace
