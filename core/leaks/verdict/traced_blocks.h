// The live blocks of an exact trace: one that has ended, or one that is being written.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "core/leaks/scan/known_blocks.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::leaks {

// The blocks that are live at the end of an exact trace, or at another moment, and what became of
// those that are not: all of them are known, and how much each stack held over time.
//
// Mappings are left out. Reads the sums of all segments and the events of at most 128, one after
// the other; memory for the live blocks, and for the amounts over time of the stacks that they are
// from. `stacks` are those of the trace, with or without names. `at_ns`: not what is live at its
// end, but at this moment, which may be a little behind the last event.
Result<KnownBlocks> TracedBlocks(const trace::TraceFile& trace,
                                 const trace::TraceFile::Stacks& stacks,
                                 uint64_t at_ns = trace::kNever);

// The live blocks of a program that is being traced, for a check of it by somebody else than its
// recorder: all of them, with their past, out of the trace that is being written.
//
//   HG_ASSIGN(auto recorded, RecordedBlocks::Find(pid, gauge, start_ns));
//   Stop(pid);
//   recorded->Mark();
//   GoOn(pid);
//   HG_ASSIGN(KnownBlocks known, recorded->Read());
//
// Every event has its time, so the trace tells what was live while the program stood still, as soon
// as it has got so far. Its recorder is asked to write what it has, and Read() waits for that
// (core/trace/file/live_trace.h).
//
// Owned by one thread at a time.
class RecordedBlocks {
 public:
  // Fails with a line that says what to do if no trace of this process is being written.
  // `gauge_path` is its gauge file, and `start_ns` the start of its recording (CLOCK_MONOTONIC).
  static Result<std::unique_ptr<RecordedBlocks>> Find(uint32_t pid, const std::string& gauge_path,
                                                      uint64_t start_ns);
  RecordedBlocks(std::string trace_path, std::string gauge_path, uint64_t start_ns)
      : path_(std::move(trace_path)), gauge_path_(std::move(gauge_path)), start_ns_(start_ns) {}

  // The program stands still.
  void Mark();
  // What was live at the mark.
  Result<KnownBlocks> Read() const;

 private:
  const std::string path_;
  const std::string gauge_path_;
  const uint64_t start_ns_;
  uint64_t marked_ns_ = 0;  // since the recording began
};

}  // namespace heapgauge::leaks
