// The tables through which every hooked call goes (defined in entries_ARCH.S), and who fills them.
//
// hg_entry[f] is where the exported function jumps to; hg_real[f] is the real function. Single
// words, written without locks: a call that reads the old value does what was right a moment ago.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/hooks/functions.h"
#include "agent/record/recorder.h"
#include "agent/sys/thread_state.h"
#include "agent/trace/block_room.h"

namespace heapgauge::agent {

enum FunctionIndex : uint32_t {
#define X(name, shape) kFn_##name,
  HG_FUNCTIONS(X)
#undef X
      kFunctionCount
};

using AnyFunction = void (*)();

}  // namespace heapgauge::agent

HG_HIDDEN heapgauge::agent::AnyFunction hg_entry[heapgauge::agent::kFunctionCount];
HG_HIDDEN heapgauge::agent::AnyFunction hg_real[heapgauge::agent::kFunctionCount];
HG_HIDDEN const heapgauge::agent::AnyFunction hg_count_stub[heapgauge::agent::kFunctionCount];
HG_HIDDEN const heapgauge::agent::AnyFunction hg_lookup_stub[heapgauge::agent::kFunctionCount];
HG_HIDDEN const heapgauge::agent::AnyFunction hg_trace_stub[heapgauge::agent::kFunctionCount];
HG_HIDDEN const heapgauge::agent::AnyFunction hg_poll_stub[heapgauge::agent::kFunctionCount];
HG_HIDDEN const heapgauge::agent::AnyFunction hg_resolve_stub[heapgauge::agent::kFunctionCount];

namespace heapgauge::agent {

// What the exported functions do. Goes only upwards in this order, except that kDormant may be left
// out.
enum class Mode : uint32_t {
  kPassThrough,  // jump to the real function
  kDormant,      // the same, but some look for a wake-up in the control words
  kCounting,     // sample; all samples pass HG_SAMPLE_MASK, other blocks need no look
  kLookup,       // sample; every block that is freed is looked up in the filter
  kTrace,        // record every call
  kTraceOver,    // and no more: jump to the real function, for good
};

// Finds the real functions if that has not been done. Any thread, at any time.
void ResolveRealFunctions();

// Switches all entries, unless they are in a higher mode already. REQUIRES: ResolveRealFunctions.
void SetMode(Mode mode);
Mode CurrentMode();

// Makes the way of a call as short as it can be for everything that is bound from now on, the
// program itself first of all. Functions that are not ours to count are taken back: the program is
// bound to libstdc++'s operators and to jemalloc's malloc_usable_size as it would be without the
// agent, a C++ plugin in a C program to its own operators. And if the agent is `active` from the
// start, others lead to their counting stubs without a jump through hg_entry. REQUIRES:
// ResolveRealFunctions.
void BindProgram(bool active);

// What was found out about the allocator.
struct AllocatorTraits {
  AllocatorIdentity identity;
};
const AllocatorTraits& Traits();

// Code, for the questions below, which are asked for every block while tracing.
struct CodeRange {
  uintptr_t start = 0;
  uintptr_t bytes = 0;
  bool Has(uintptr_t pc) const { return pc - start < bytes; }
};
namespace internal {
inline constinit std::atomic<uint32_t> allocator_objects{0};  // 0: glibc, or none found yet
// operator new and its form with an alignment, which the others call, where they pass on to malloc.
inline constinit CodeRange operator_new[2];
bool IsInsideAllocatorObject(uintptr_t pc);
// malloc_usable_size, if it is the allocator's own.
using UsableSizeFunction = size_t(uintptr_t block);
inline constinit UsableSizeFunction* usable_size = nullptr;
inline constinit BlockRoom block_room;  // the same for traces
}  // namespace internal

// True if the caller is the allocator itself: jemalloc's operator new, for one, calls malloc by
// name. Such a call was counted already at its outer end.
inline bool IsInsideAllocator(uintptr_t pc) {
  return internal::allocator_objects.load(std::memory_order_acquire) != 0 &&
         internal::IsInsideAllocatorObject(pc);
}

// True if the caller is an operator new that is not counted itself: the block is asked for by new.
inline bool IsOperatorNew(uintptr_t pc) {
  return internal::operator_new[0].Has(pc) || internal::operator_new[1].Has(pc);
}

// The real function with its type.
template <typename Signature>
Signature* Real(FunctionIndex function) {
  return reinterpret_cast<Signature*>(hg_real[function]);
}

}  // namespace heapgauge::agent
