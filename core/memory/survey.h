// Looks at a process from outside and accounts for its memory: everything that `heapgauge memory`
// and the header of `top` show. For a process that is gone, the last that its gauge file says.
//
// Reads /proc, the cgroup file system and the gauge file; changes nothing. What may not be read is
// done without, and a note says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/gauge/gauge_facts.h"
#include "core/memory/accounting.h"
#include "core/os/memory_maps.h"
#include "core/os/process_memory.h"

namespace heapgauge {

struct MemorySurvey {
  RecordingFacts recording;
  bool live = false;      // of this moment; else of `time_ns`
  uint64_t time_ns = 0;   // on the clock of the recording
  std::string time_note;  // for a process that is gone: where its figures come from

  ProcessStatus status;
  Accounting accounting;
  wire::Allocator allocator = wire::Allocator::kUnknown;
  std::optional<wire::AllocatorStatistics> statistics;
  bool statistics_are_fresh = false;
  bool records_mappings = false;

  Smaps smaps;                                // empty where it may not be read
  std::vector<Piece> pieces;                  // of these
  std::vector<wire::MappingRecord> mappings;  // what Piece::record counts
  uint32_t stacks = 0;
  uint64_t program_clean = 0;
  uint64_t program_dirty = 0;
  uint64_t clean_file = 0;    // file pages that the kernel can drop without writing
  uint64_t lazily_freed = 0;  // given back, but still counted

  std::optional<CgroupMemory> cgroup;
  HostMemory host;
  Growth growth;
  std::vector<std::string> notes;
};

struct SurveyOptions {
  // Larger processes are looked at by their sums alone; for reports that must not wait.
  uint64_t full_up_to = ~uint64_t{0};
  // Off: live is the estimate as all other reports show it.
  bool use_statistics = true;
};

Result<MemorySurvey> SurveyMemory(const GaugeMemory& gauge, const SurveyOptions& options = {});

// The live blocks of a program all of whose calls are recorded: its gauge file has no samples, its
// trace has every block.
//
// Reads the trace that is being written (core/trace/file/live_trace.h), and waits until its
// recorder has written what it has.
//
// Puts them where samples would be, each for itself alone. Leaves `gauge` as it is if the
// program is not traced, or if its trace cannot be found or read.
void UseTracedBlocks(GaugeMemory* gauge);

}  // namespace heapgauge
