// Finds the suppression that silences a block, by its stack, its kind and how it was allocated.
//
// A matcher remembers what it was asked and is for one thread.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/leaks/scan/check.h"
#include "core/leaks/verdict/stack_frames.h"
#include "core/leaks/verdict/suppressions.h"
#include "core/model/profile.h"

namespace heapgauge::leaks {

class SuppressionMatcher {
 public:
  // Both must outlive it.
  SuppressionMatcher(const Suppressions& suppressions, const Profile& profile);

  // The first rule that silences blocks of this stack and kind, which `function` allocated
  // (KnownBlock::function); kNone if none does.
  uint32_t Match(NodeId leaf, Kind kind, uint32_t function);

 private:
  static constexpr uint32_t kNotCalled = UINT32_MAX;
  uint32_t Find(const std::vector<StackFrame>& stack, Kind kind, uint32_t function);
  bool Matches(const SuppressionRule& rule, const std::vector<StackFrame>& stack, uint32_t called);
  bool Matches(const SuppressionFrame& pattern, const StackFrame& frame);
  const std::string& ResolvedOf(const Module& module);
  uint32_t LsanRuleOf(const StackFrame& frame);

  const Suppressions& suppressions_;
  const Profile& profile_;
  std::unordered_map<uint64_t, uint32_t> known_;             // by leaf, function and kind
  std::unordered_map<uint32_t, uint32_t> by_frame_;          // the first of LeakSanitizer's rules
  std::vector<uint32_t> lsan_;                               // indexes of these
  std::unordered_map<const Module*, std::string> resolved_;  // paths
};

}  // namespace heapgauge::leaks
