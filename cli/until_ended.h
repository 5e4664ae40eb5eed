// A command that serves until somebody ends it: Ctrl-C, or a signal that asks it to.
//
// To be made before the first thread, so that the signals are blocked in all of them.
// Single-threaded.
#pragma once

#include <csignal>

#include "endpoint/base/process.h"

namespace heapgauge::cli {

class UntilEnded {
 public:
  UntilEnded();

  // Returns when one of the signals came. Ticks the timelines of the processes meanwhile.
  void Wait(endpoint::Processes* processes) const;

 private:
  sigset_t signals_;
};

}  // namespace heapgauge::cli
