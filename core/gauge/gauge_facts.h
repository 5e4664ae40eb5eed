// What a gauge file holds besides stacks: the facts in a summary, and memory as a whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/address_range.h"
#include "core/base/file.h"
#include "core/base/result.h"
#include "core/gauge/gauge_layout.h"
#include "core/model/estimate.h"
#include "core/model/profile.h"
#include "core/model/recording.h"
#include "wire/gauge_format.h"

namespace heapgauge {

// The facts of a gauge file without its stacks: what `ps`, `ctl status` and the last lines of `run`
// show. Reads the header and the live table only.
struct GaugeSummary {
  RecordingFacts recording;
  Estimate live_bytes;
  double live_objects = 0;
};
Result<GaugeSummary> ReadGaugeSummary(const std::string& path);

// Everything the header says about the recording, apart from what depends on the live table.
RecordingFacts RecordingOf(const GaugeLayout& layout);

// Sets state and duration: does the process that wrote `path` still run? `last_sign_ns` is the
// latest time found in the file.
void FindState(const GaugeLayout& layout, const std::string& path, uint64_t last_sign_ns,
               RecordingFacts* recording);

// True if the record's numbers can be those of an allocation.
bool IsPlausible(const wire::LiveRecord& record);

// No program has memory from here on.
inline constexpr uint64_t kAddressSpace = uint64_t{1} << 57;

struct GaugeMemory {
  std::string path;
  RecordingFacts recording;
  wire::Allocator allocator = wire::Allocator::kUnknown;
  std::vector<wire::LiveRecord> live;  // since the last reset
  bool live_is_whole = false;          // these are no samples: all blocks are known
  bool records_mappings = false;
  std::vector<wire::MappingRecord> mappings;
  std::optional<wire::AllocatorStatistics> statistics;
  std::optional<wire::ProcessMemory> memory;
  std::vector<TimelinePoint> timeline;  // oldest first
  std::vector<AddressRange> agent_ranges;
  bool agent_ranges_known = false;
  uint64_t now_ns = 0;  // of the file's clock, as of the reading; 0 if the process is gone
};

// What a gauge file holds about memory as a whole: live blocks with their addresses, recorded
// mappings, the allocator's own statistics, the process as the kernel saw it, the agent's ranges.
// `heapgauge memory` starts from this.
//
// The file is treated as hostile, as in gauge_reader.h: what makes no sense is left out.
Result<GaugeMemory> ReadGaugeMemory(const std::string& path);

}  // namespace heapgauge
