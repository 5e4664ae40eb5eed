// Writes into the gauge file of a running program from outside: its control words, and points of
// its timeline.
//
// All access is by pread and pwrite: a file that shrinks is an error, never a signal.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/file.h"
#include "core/base/result.h"
#include "core/gauge/gauge_layout.h"
#include "wire/gauge_format.h"

namespace heapgauge {

// The other end of the gauge file's control words: switches a running program's sampling on and
// off, changes its rate, resets it.
//
// Two controllers at the same time may overwrite each other's words; the last one wins.
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

// Writes a program's timeline from outside. The agent ticks when it takes a sample and a second
// has passed; a program that allocates little would have gaps. Whoever watches it (run, serve)
// fills them, and adds what only the outside sees: resident memory.
//
// A tick that both sides write at the same moment costs one of the two.
class GaugeTicker {
 public:
  static Result<GaugeTicker> Open(const std::string& path);

  uint32_t pid() const { return pid_; }

  // True if the file is still the one of that name. A later program of the process takes the name
  // over and moves the file of the earlier one away.
  bool IsAt(const std::string& path) const;

  // Writes a tick if the last one is older than 0.9 s. Returns whether it did; else it adds the
  // resident memory to that last one if it has none.
  Result<bool> Tick(uint64_t resident_bytes, uint64_t monotonic_now_ns);

  // Notes the process's memory in the header, for the time when the process is gone. `state` and
  // `time_ns` are set here.
  Status WriteMemory(wire::ProcessMemory memory, uint64_t monotonic_now_ns);

 private:
  explicit GaugeTicker(File file) : file_(std::move(file)) {}
  Status CompleteLast(const wire::Header& header, uint64_t resident_bytes);

  File file_;
  uint32_t pid_ = 0;
  uint64_t timeline_offset_ = 0;  // 0: not known yet
};

}  // namespace heapgauge
