// Writes a program's timeline from outside. The agent ticks when it takes a sample and a second
// has passed; a program that allocates little would have gaps. Whoever watches it (run, serve)
// fills them, and adds what only the outside sees: resident memory.
//
// By pread and pwrite only. A tick that both sides write at the same moment costs one of the two.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/file.h"
#include "core/base/result.h"
#include "wire/gauge_format.h"

namespace heapgauge {

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
