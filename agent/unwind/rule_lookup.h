// The rule for a code address: from the cache that all threads share (RuleCache), or else evaluated
// from the .eh_frame of the object that holds the code (some hundred nanoseconds, once for
// each address).
//
// A return address names the instruction behind the call, which may belong to another function, so
// it is looked up one byte lower; an address that a signal interrupted is looked up as it is
// ("exact").
//
// Any thread, lock-free, allocation-free, async-signal-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/unwind/arch.h"
#include "agent/unwind/rule.h"

namespace heapgauge::agent {

// The rules that were needed so far, by code address, shared by all threads of the process.
//
// Invariants:
//   1. An entry is one 8-byte word that is read and written whole, so a reader sees a rule with the
//      tag it belongs to or another one, never a mixture. No lock, no order between entries needed.
//   2. The 47 bits of an address are spread by a bijection. Index and tag together hold all of
//      them, so an entry found is the entry of that very address.
//   3. An address lives in one of four neighbouring slots. A new rule takes the address's own slot
//      and moves what was there to another of the four: with two, three busy addresses that meet
//      would push one another out for ever.
//
// 16,384 entries, 128 KiB, touched as they are needed. Zero-initialised memory is an empty cache.
class RuleCache {
 public:
  static constexpr int kIndexBits = 14;
  static constexpr uint32_t kEntries = 1u << kIndexBits;
  static constexpr int kWayBits = 2;
  static constexpr uint32_t kWays = 1u << kWayBits;
  // What the index of the group of slots does not say.
  static constexpr int kTagBits = arch::kAddressBits - (kIndexBits - kWayBits);
  static_assert(kTagBits == packed::kFreeBits);

  // Looks only into the address's own slot, where a rule mostly is. REQUIRES: address < 2^47.
  PackedRule FindQuickly(uintptr_t address) const {
    const uint64_t key = Spread(address);
    const uint64_t own = entries_[SlotOf(key)].load(std::memory_order_relaxed);
    return Matches(own, key) ? RuleOf(own) : 0;
  }
  // The same with the tag still in the word; false if it is not there, or is empty.
  bool FindTagged(uintptr_t address, PackedRule* rule) const {
    const uint64_t key = Spread(address);
    *rule = entries_[SlotOf(key)].load(std::memory_order_relaxed);
    return Matches(*rule, key);
  }

  // 0 (RuleKind::kEmpty) if it is not there. REQUIRES: address < 2^47.
  PackedRule Find(uintptr_t address) const {
    const uint64_t key = Spread(address);
    const uint32_t slot = SlotOf(key);
    for (uint32_t way = 0; way < kWays; ++way) {
      const uint64_t other = entries_[slot ^ way].load(std::memory_order_relaxed);
      if (Matches(other, key)) return RuleOf(other);
    }
    return 0;
  }

  // REQUIRES: address < 2^47, rule != 0.
  void Insert(uintptr_t address, PackedRule rule) {
    const uint64_t key = Spread(address);
    const uint32_t slot = SlotOf(key);
    const uint64_t before = entries_[slot].load(std::memory_order_relaxed);
    entries_[slot].store(TagOf(key) | rule, std::memory_order_relaxed);
    if (before == 0 || Matches(before, key)) return;
    // A free slot, or else any, but not always the same.
    uint32_t way = 1;
    while (way < kWays && entries_[slot ^ way].load(std::memory_order_relaxed) != 0) ++way;
    if (way == kWays) way = 1 + static_cast<uint32_t>((before ^ key) % (kWays - 1));
    entries_[slot ^ way].store(before, std::memory_order_relaxed);
  }

  void Clear() {
    for (std::atomic<uint64_t>& entry : entries_) {
      // Look first: a page that was never written stays without memory.
      if (entry.load(std::memory_order_relaxed) != 0) entry.store(0, std::memory_order_relaxed);
    }
  }

  // The bijection, at the top of the word, so that one shift finds the slot; public for tests.
  static constexpr uint64_t Spread(uint64_t address) { return address * kFactor; }
  static constexpr uint32_t SlotOf(uint64_t key) {
    return static_cast<uint32_t>(key >> (64 - kIndexBits));
  }

 private:
  static constexpr int kSpreadShift = 64 - arch::kAddressBits;
  static constexpr uint64_t kFactor = 0x9e3779b97f4a7c15u << kSpreadShift;

  // In its place in the entry.
  static constexpr uint64_t TagOf(uint64_t key) {
    return key >> (kSpreadShift - packed::kFreeShift) & packed::kFreeMask;
  }
  static constexpr bool Matches(uint64_t entry, uint64_t key) {
    // The bits of the tag alone, by shifts: a mask would be one more constant to keep.
    const uint64_t difference = entry ^ key >> (kSpreadShift - packed::kFreeShift);
    return difference << packed::kCfaOffsetBits >> (packed::kCfaOffsetBits + packed::kFreeShift) ==
           0;
  }
  static constexpr PackedRule RuleOf(uint64_t entry) { return entry & ~packed::kFreeMask; }

  std::atomic<uint64_t> entries_[kEntries];
};

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
