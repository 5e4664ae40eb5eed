#include "tests/unwind/probe.h"

extern "C" void hg_probe_taken(void* context, uintptr_t pc, uintptr_t sp, uintptr_t fp) {
  const auto* action = static_cast<const heapgauge::agent::ProbeAction*>(context);
  action->function({pc, sp, fp}, action->argument);
}
