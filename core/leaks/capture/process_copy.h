// The copy of a process that one of its threads was made to fork. It is stopped and traced, runs
// nothing of the program, and dies with the thread that traces it.
//
// To be used by the thread that stopped the process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "core/leaks/capture/machine.h"
#include "core/leaks/capture/stopped_process.h"

namespace heapgauge::leaks {

class ProcessCopy {
 public:
  ProcessCopy() = default;
  ~ProcessCopy() { (void)End(); }
  ProcessCopy(const ProcessCopy&) = delete;
  ProcessCopy& operator=(const ProcessCopy&) = delete;

  // The process may be let go when this is done. ErrorCode::kUnavailable: it is not known what
  // became of the call.
  Status Fork(StoppedProcess* process, const CallSite& site);
  // To be called after that: waits until the copy stands still.
  Status Settle();
  pid_t id() const { return id_; }

  // Kills it and has its parent wait for it, and for copies of others who were killed. How long
  // that one stood still for it. Fails if a zombie stays.
  Result<uint64_t> End();

 private:
  void FindAbandoned();
  Result<uint64_t> Reap(pid_t copy);
  Status ReapBy(StoppedProcess* stopped);

  pid_t parent_ = 0;
  pid_t caller_ = 0;  // thread that forked
  pid_t id_ = 0;
  long id_inside_ = 0;  // as the program's own pid namespace numbers it
  CallSite site_;
  std::vector<long> abandoned_;
};

}  // namespace heapgauge::leaks
