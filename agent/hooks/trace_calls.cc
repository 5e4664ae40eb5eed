// What the stubs do while every call is traced (entries_ARCH.S).
//
// A block is recorded after the allocator gave it and before the program has it, a free before the
// allocator gets the block back; so for each address the times of the events are in the true order.
// Only what comes from outside of the allocator counts: its operator new that calls its malloc by
// name, or goes on to it by a jump, is one event. The real functions may throw or never return, so
// nothing is held across them; what throws has no event. errno is as the real function left it:
// nothing here sets it.
#include "agent/hooks/call.h"
#include "agent/hooks/entry_table.h"
#include "agent/record/recorder.h"
#include "agent/sys/thread_state.h"

// In entries_ARCH.S: passes a call on to the real function, and where that code begins and ends.
HG_HIDDEN uintptr_t hg_pass_on_call(const heapgauge::agent::Call* call);
HG_HIDDEN const char hg_passing_on[];
HG_HIDDEN const char hg_passed_on[];

namespace heapgauge::agent {
namespace {

using wire::TraceEventKind;

// The real function, called by us, went on to another by a jump.
inline bool IsPassedOn(uintptr_t pc) {
  const auto start = reinterpret_cast<uintptr_t>(hg_passing_on);
  return pc - start < reinterpret_cast<uintptr_t>(hg_passed_on) - start;
}

// False if this call is not to be recorded.
[[gnu::noinline]] bool CountsAfterAll(uintptr_t pc) {
  if (!session.tracer().tracing()) {
    SetMode(Mode::kTraceOver);
    return false;
  }
  return !IsInsideAllocator(pc) && !IsPassedOn(pc);
}
// The answer for most: nothing more needs to be asked.
inline bool CountsSurely(uintptr_t pc) {
  return session.tracer().tracing() &&
         internal::allocator_objects.load(std::memory_order_acquire) == 0 && !IsPassedOn(pc);
}
inline bool Counts(uintptr_t pc) { return CountsSurely(pc) || CountsAfterAll(pc); }

inline void RecordBlock(TraceEventKind kind, const Call& call, uintptr_t block, size_t size) {
  if (ThreadIsExcluded()) return;
  session.tracer().TraceBlock(
      kind, {block, size, &internal::block_room, KindOf(call), AlignmentOf(call)}, call.caller);
}

uintptr_t Allocate(const Call& call) {
  const uintptr_t result = hg_pass_on_call(&call);
  const uintptr_t block = BlockOf(call, result);
  if (block != 0 && Counts(call.caller.pc)) {
    RecordBlock(TraceEventKind::kAllocate, call, block, SizeOf(call));
  }
  return result;
}

uintptr_t Resize(const Call& call) {
  const uintptr_t old = call.argument[0];
  if (old == 0) return Allocate(call);
  if (!Counts(call.caller.pc)) return hg_pass_on_call(&call);
  const size_t size = SizeOf(call);
  const bool in_place = call.function() == kFn_xallocx;  // answers the size it reached
  // Some allocators free the block then, and some of these give another, as others do always.
  const bool frees = size == 0 && !in_place;
  const bool ends = frees || ThreadIsExcluded();
  const bool begun = session.tracer().TraceAddress(
      ends ? TraceEventKind::kFree : TraceEventKind::kResizeBegin, old, call.caller.sp);
  const uintptr_t result = hg_pass_on_call(&call);
  const bool failed = in_place ? result < size : result == 0;
  if (ends && failed && !frees) {
    // It was told to be gone, because what becomes of it does not count, and is still there.
    const size_t room = internal::block_room.Of(old, 0);
    session.tracer().TraceBlock(TraceEventKind::kAllocate,
                                {old, room, &internal::block_room, KindOf(call), AlignmentOf(call)},
                                call.caller);
  } else if (ends || !begun) {
    if (!failed) RecordBlock(TraceEventKind::kAllocate, call, in_place ? old : result, size);
  } else if (failed) {
    session.tracer().TraceAddress(TraceEventKind::kResizeFailed, old, call.caller.sp);
  } else {
    RecordBlock(TraceEventKind::kResizeEnd, call, in_place ? old : result, size);
  }
  return result;
}

}  // namespace
}  // namespace heapgauge::agent

HG_HIDDEN void hg_record_malloc(uintptr_t block, size_t size,
                                const heapgauge::agent::Registers* caller);
HG_HIDDEN uintptr_t hg_record_allocate(const heapgauge::agent::Call* call);
HG_HIDDEN uintptr_t hg_record_resize(const heapgauge::agent::Call* call);
HG_HIDDEN void hg_record_free(uintptr_t block, uintptr_t pc, uintptr_t sp);

// The most frequent one, of which all is known.
void hg_record_malloc(uintptr_t block, size_t size, const heapgauge::agent::Registers* caller) {
  using namespace heapgauge::agent;
  if (!Counts(caller->pc) || ThreadIsExcluded()) return;
  const bool by_new = IsOperatorNew(caller->pc);
  const auto function = by_new ? heapgauge::wire::AllocationFunction::kNew
                               : heapgauge::wire::AllocationFunction::kMalloc;
  session.tracer().TraceBlock(heapgauge::wire::TraceEventKind::kAllocate,
                              {block, size, &internal::block_room, function, 0}, *caller);
}

uintptr_t hg_record_allocate(const heapgauge::agent::Call* call) {
  return heapgauge::agent::Allocate(*call);
}

uintptr_t hg_record_resize(const heapgauge::agent::Call* call) {
  return heapgauge::agent::Resize(*call);
}

namespace {
[[gnu::noinline]] void RecordFreeAfterAll(uintptr_t block, uintptr_t pc, uintptr_t sp) {
  using namespace heapgauge::agent;
  if (CountsAfterAll(pc)) {
    session.tracer().TraceAddress(heapgauge::wire::TraceEventKind::kFree, block, sp);
  }
}
}  // namespace

void hg_record_free(uintptr_t block, uintptr_t pc, uintptr_t sp) {
  using namespace heapgauge::agent;
  // Both are jumps: nothing is put on the stack here.
  if (!CountsSurely(pc)) [[unlikely]]
    return RecordFreeAfterAll(block, pc, sp);
  // Where glibc keeps the size, and the list that the block goes to: it will want them next.
  __builtin_prefetch(reinterpret_cast<const char*>(block) - sizeof(size_t), 1);
  __builtin_prefetch(reinterpret_cast<const char*>(block), 1);
  session.tracer().TraceAddress(heapgauge::wire::TraceEventKind::kFree, block, sp);
}
