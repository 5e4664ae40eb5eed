// libFuzzer target: any bytes as a trace, and damage to a good one that no checksum finds.
//
//   build/bin/trace_file_fuzz -max_len=65536 -rss_limit_mb=1024 corpus/

#include <cstdint>
#include <vector>

#include "core/trace/file/trace_file.h"
#include "tests/fuzz/damaged_trace.h"

namespace heapgauge::trace {
namespace {

void Require(bool holds) {
  if (!holds) __builtin_trap();
}

void ReadAll(const TraceFile& trace) {
  Segment segment;
  std::vector<StackSums> sums;
  for (size_t i = 0; i < trace.segments().size(); ++i) {
    for (const uint32_t parts : {uint32_t{kEverything}, kNewBlocks | kAddresses, +kOldBlocks}) {
      if (!trace.ReadSegment(i, parts, &segment)) continue;
      for (const Block& block : segment.blocks) {
        Require(block.stack < trace.stack_count() && block.number < trace.blocks());
        Require(block.thread == kNoIndex || block.thread < trace.threads().size());
      }
      for (const Event& event : segment.events) {
        Require(event.born == kNoIndex || event.born < segment.blocks.size());
        Require(event.died == kNoIndex || event.died < segment.blocks.size());
      }
    }
    if (!trace.ReadSums(i, &sums)) continue;
    for (const StackSums& s : sums) Require(s.stack < trace.stack_count());
  }
  (void)trace.ForEachSurvivor([&](const Block& block) { Require(block.number < trace.blocks()); });
  if (const auto stacks = trace.ReadStacks()) Require((*stacks)->profile.Check().has_value());
}

}  // namespace
}  // namespace heapgauge::trace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  heapgauge::trace::testing::WithDamagedTrace(data, size, heapgauge::trace::ReadAll);
  return 0;
}
