// The rule for a code address: from the shared cache, or else evaluated from the .eh_frame of the
// object that holds the code (some hundred nanoseconds, once per address).
//
// A return address names the instruction behind the call, which may belong to another function, so
// it is looked up one byte lower; an address that a signal interrupted is looked up as it is
// ("exact"). Any thread, lock-free, allocation-free, async-signal-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/unwind/rule.h"
#include "agent/unwind/rule_cache.h"

namespace heapgauge::agent {

// Evaluates the rule without looking into the cache or changing it.
Rule EvaluateRule(uintptr_t pc, bool exact);

// Counts the calls of InvalidateUnwindRules(): what was learned under another value is stale.
inline std::atomic<uint32_t> unwind_generation{0};

// To be called when code was unloaded (dlclose), before other code can take its place: forgets all
// rules, and makes every Walker forget its stack.
void InvalidateUnwindRules();

namespace internal {
inline RuleCache rule_cache;
PackedRule FindRuleSlow(uintptr_t pc, bool exact);
}  // namespace internal

// The packed rule; kEmpty if it does not fit and EvaluateRule() must be asked each time.
inline PackedRule FindRule(uintptr_t pc, bool exact) {
  const uintptr_t address = pc - !exact;
  if (address >> arch::kAddressBits == 0) [[likely]] {
    if (const PackedRule rule = internal::rule_cache.FindQuickly(address)) [[likely]]
      return rule;
  }
  return internal::FindRuleSlow(pc, exact);
}

}  // namespace heapgauge::agent
