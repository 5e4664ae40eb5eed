#include "core/trace/answer/selected_peak.h"

#include "core/trace/answer/ordered_fold.h"

namespace heapgauge::trace {

Result<StatsPeak> FindPeakOf(const TraceFile& trace, const MarkedBlocks& marked,
                             ProgressSink* progress) {
  StatsPeak peak;
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  OrderedFoldOptions options;
  options.parts = kOldBlocks | kNewBlocks | kEvents;
  options.workers = WorkersFor(trace, 0);
  options.progress = progress;
  OrderedFold fold;
  fold.in_order = [&](size_t, const Segment& segment) {
    for (const Event& event : segment.events) {
      if (event.died != kNoIndex && marked.IsMarked(segment.blocks[event.died].number)) {
        bytes -= segment.blocks[event.died].size;
        --blocks;
      }
      if (event.born != kNoIndex && marked.IsMarked(segment.blocks[event.born].number)) {
        bytes += segment.blocks[event.born].size;
        ++blocks;
      }
      if (bytes > peak.bytes) peak = {bytes, blocks, event.time_ns};
    }
  };
  HG_TRY(FoldOrdered(trace, options, fold));
  return peak;
}

}  // namespace heapgauge::trace
