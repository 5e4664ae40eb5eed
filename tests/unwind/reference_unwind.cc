#include "tests/unwind/reference_unwind.h"

#include <unwind.h>

namespace heapgauge::agent {
namespace {

struct Collector {
  Registers start;
  PlainFrame* frames;
  uint32_t capacity;
  uint32_t count;
};

_Unwind_Reason_Code Collect(_Unwind_Context* context, void* argument) {
  auto* collector = static_cast<Collector*>(argument);
  int exact = 0;
  const uintptr_t pc = _Unwind_GetIPInfo(context, &exact);
  const uintptr_t sp = _Unwind_GetCFA(context);
  if (collector->count == 0 && (pc != collector->start.pc || sp != collector->start.sp)) {
    return _URC_NO_REASON;  // frames of the test itself
  }
  if (collector->count == collector->capacity) return _URC_END_OF_STACK;
  const uintptr_t fp = _Unwind_GetGR(context, arch::kDwarfFp);
  collector->frames[collector->count++] = {pc, sp, fp, exact != 0};
  return _URC_NO_REASON;
}

}  // namespace

uint32_t WalkWithLibgcc(const Registers& start, PlainFrame* frames, uint32_t capacity) {
  Collector collector{start, frames, capacity, 0};
  _Unwind_Backtrace(Collect, &collector);
  return collector.count;
}

}  // namespace heapgauge::agent
