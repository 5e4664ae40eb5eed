#include "agent/unwind/rule_lookup.h"

#include "agent/unwind/arch.h"
#include "agent/unwind/cfa_program.h"
#include "agent/unwind/eh_frame.h"
#include "agent/unwind/stack_memory.h"

namespace heapgauge::agent {
namespace {

// A restorer without unwind rules: programs that call rt_sigaction themselves bring their own.
bool IsRestorerInObject(const LoadedObject& object, uintptr_t pc) {
  const MappedByteReader code = SegmentFrom(object, pc);
  return code.left() >= arch::kRestorerBytes &&
         arch::IsSignalRestorer(reinterpret_cast<const uint8_t*>(pc));
}

bool IsRestorerElsewhere(uintptr_t pc) {
  return ProbeReadable(pc) && ProbeReadable(pc + arch::kRestorerBytes - 8) &&
         arch::IsSignalRestorer(reinterpret_cast<const uint8_t*>(pc));
}

// `by_description` tells whether the rule follows from .eh_frame alone and so may be cached.
Rule Evaluate(uintptr_t pc, bool exact, bool* by_description) {
  *by_description = false;
  const uintptr_t address = pc - !exact;
  if (address >> arch::kAddressBits != 0) return Rule{.kind = RuleKind::kNoObject};
  LoadedObject object;
  if (!ObjectAt(address, &object)) {
    const bool restorer = !exact && pc != 0 && IsRestorerElsewhere(pc);
    return Rule{.kind = restorer ? RuleKind::kSignal : RuleKind::kNoObject};
  }
  FrameDescription function;
  if (FindFrameDescription(object, address, &function)) {
    *by_description = true;
    return EvaluateProgram(function, address);
  }
  if (IsRestorerInObject(object, pc)) return Rule{.kind = RuleKind::kSignal};
  if (!exact && FindFrameDescription(object, pc, &function) && function.begin == pc) {
    // A return address at the first byte of a function, with nothing known in front of it: no call
    // has put it there but who made the stack (makecontext does). So there is no caller. May be
    // cached: nobody executes the byte in front.
    *by_description = true;
    return Rule{.kind = RuleKind::kOutermost};
  }
  // Not cached: the entry is shared with the return address one byte further, maybe a restorer's.
  return Rule{.kind = RuleKind::kUnsupported};
}

}  // namespace

Rule EvaluateRule(uintptr_t pc, bool exact) {
  bool by_description;
  return Evaluate(pc, exact, &by_description);
}

void InvalidateUnwindRules() {
  // Counted before and after, so that a rule that is being evaluated from the object that goes away
  // meanwhile is not put into the cache behind the sweep.
  unwind_generation.fetch_add(1, std::memory_order_seq_cst);
  internal::rule_cache.Clear();
  unwind_generation.fetch_add(1, std::memory_order_seq_cst);
}

namespace internal {

[[gnu::noinline]] PackedRule FindRuleSlow(uintptr_t pc, bool exact) {
  const uintptr_t address = pc - !exact;
  if (address >> arch::kAddressBits == 0) {
    if (const PackedRule rule = rule_cache.Find(address)) return rule;
  }
  const uint32_t generation = unwind_generation.load(std::memory_order_acquire);
  bool by_description;
  const Rule rule = Evaluate(pc, exact, &by_description);
  const PackedRule packed = Pack(rule);
  if (packed != 0 && by_description &&
      unwind_generation.load(std::memory_order_acquire) == generation) {
    rule_cache.Insert(address, packed);
  }
  return packed;
}

}  // namespace internal
}  // namespace heapgauge::agent
