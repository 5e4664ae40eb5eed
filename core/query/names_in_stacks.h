// What the stacks of a source are called: the function that a stack is counted for, its module,
// its frames as one line, and whether a regular expression matches any of them.
//
// A stack is named by a number. In a trace that is the trace's own, where 0 is the unknown stack;
// in a profile it is the row's, from 1 on.
//
// A regular expression is looked for once in each location and then handed down the trie, so asking
// about a million stacks costs a bit for each. The last expressions are remembered. Not
// synchronised.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/fold/functions.h"
#include "core/model/profile.h"

namespace heapgauge::query {

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

}  // namespace heapgauge::query
