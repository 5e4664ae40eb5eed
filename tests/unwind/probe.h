// Calls a function with the state of the frame that the call stands in, as the entry of malloc sees
// it.
#pragma once

#include "agent/unwind/step.h"

extern "C" void hg_probe(void* context);  // calls hg_probe_taken(context, pc, sp, fp)

// Hides the counter of a loop, so that it is not unrolled: the call in it has one return address.
#define HG_KEEP_LOOP(counter) __asm__ volatile("" : "+r"(counter))

namespace heapgauge::agent {

// What hg_probe() gets in the tests that use probe.cc.
struct ProbeAction {
  void (*function)(const Registers& registers, void* argument);
  void* argument;
};

}  // namespace heapgauge::agent
