// The other end of the gauge file's control words: switches a running program's sampling on and
// off, changes its rate, resets it.
//
// All access is by pread and pwrite: a file that shrinks is an error, never a signal. Two
// controllers at the same time may overwrite each other's words; the last one wins.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/file.h"
#include "core/base/result.h"
#include "core/gauge/gauge_layout.h"

namespace heapgauge {

class GaugeControl {
 public:
  static Result<GaugeControl> Open(const std::string& path);

  // Each announces one change; the program takes it into account at its next sample.
  Status SetActive(bool active);
  Status SetInterval(uint64_t bytes);  // 1 to wire::kMaxIntervalBytes
  Status SetMaxSamplesPerSecond(uint32_t samples);
  Status RequestReset();

  // Asks for fresh figures of the allocator itself; the program writes them at its next sample.
  Status RequestStatistics();
  // True once they are there; waits up to `timeout_ms`.
  bool WaitForStatistics(int timeout_ms) const;

  // Asks whoever records a trace of the program to write all that has happened up to now.
  Status RequestTrace();
  // True once that is in the trace; waits up to `timeout_ms`.
  bool WaitForTrace(int timeout_ms) const;

  // True once the program has seen the last change; waits up to `timeout_ms`.
  bool WaitUntilSeen(int timeout_ms) const;

 private:
  explicit GaugeControl(File file) : file_(std::move(file)) {}
  template <typename Word>
  Status Change(size_t offset, Word value);
  Result<uint32_t> ReadCounter(size_t offset) const;

  File file_;
  uint32_t generation_ = 0;
  uint32_t statistics_requests_ = 0;
  uint32_t trace_requests_ = 0;
};

}  // namespace heapgauge
