// Looks at the memory of a running program for leaks, where the host may: that stops the program
// for a moment, and takes a process beside it. A page inside of a program has none.
//
// Threads: any number at a time, for different processes.
#pragma once

#include "core/base/result.h"
#include "core/leaks/scan/check.h"
#include "core/leaks/verdict/suppressions.h"
#include "endpoint/base/process.h"

namespace heapgauge::endpoint::api {

class LeakChecker {
 public:
  virtual ~LeakChecker() = default;
  // Without names.
  virtual Result<leaks::Check> Look(Process* process) = 0;
  // Leaks to live with. They do not change.
  virtual const leaks::Suppressions& suppressions() const = 0;
};

}  // namespace heapgauge::endpoint::api
