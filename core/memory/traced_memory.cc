#include "core/memory/traced_memory.h"

#include <utility>
#include <vector>

#include "core/trace/file/live_trace.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge {

void UseTracedBlocks(GaugeMemory* gauge) {
  if (!gauge->recording.traced || gauge->recording.state != RecordingState::kLive) return;
  const std::string path = trace::FindLiveTrace(gauge->path);
  if (path.empty()) return;
  trace::HaveTraceWritten(gauge->path);
  const auto trace = trace::TraceFile::Open(path);
  if (!trace) return;
  std::vector<wire::LiveRecord> live;
  const Status read = (*trace)->ForEachSurvivor([&](const trace::Block& block) {
    if (block.is_mapping || block.address >= kAddressSpace) return;
    wire::LiveRecord& record = live.emplace_back();
    record.address = block.address;
    record.size = block.size;
    record.interval = 0;  // no sample
    record.birth_ns = block.birth_ns;
    record.usable = block.size + block.slack;
  });
  if (!read) return;
  gauge->live = std::move(live);
  gauge->live_is_whole = true;
  gauge->recording.interval = 0;
  gauge->recording.interval_in_force = 0;
  gauge->recording.samples = gauge->recording.live_samples = gauge->live.size();
}

}  // namespace heapgauge
