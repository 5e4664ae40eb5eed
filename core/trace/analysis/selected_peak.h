// The peak of some blocks of a trace: those that a filter leaves. Which ones these are is known
// only when each has died, so the trace is read twice: first to mark them, one bit a block, then to
// add up sizes in the order of events.
//
// Mark may be called by several threads at once.
#ifndef HEAPGAUGE_CORE_TRACE_ANALYSIS_SELECTED_PEAK_H_
#define HEAPGAUGE_CORE_TRACE_ANALYSIS_SELECTED_PEAK_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/trace/analysis/stats.h"
#include "core/trace/trace_file.h"

namespace heapgauge::trace {

class MarkedBlocks {
 public:
  explicit MarkedBlocks(uint64_t blocks) : words_(blocks / 64 + 1) {}

  void Mark(uint64_t number) {
    const uint64_t word = number / 64;
    if (word >= words_.size()) return;
    words_[word].fetch_or(uint64_t{1} << number % 64, std::memory_order_relaxed);
  }
  bool IsMarked(uint64_t number) const {
    const uint64_t word = number / 64;
    return word < words_.size() &&
           (words_[word].load(std::memory_order_relaxed) >> number % 64 & 1) != 0;
  }

 private:
  std::vector<std::atomic<uint64_t>> words_;
};

// The most bytes that the marked blocks had at any event, and when first.
Result<StatsPeak> FindPeakOf(const TraceFile& trace, const MarkedBlocks& marked,
                             ProgressSink* progress);

}  // namespace heapgauge::trace

#endif  // HEAPGAUGE_CORE_TRACE_ANALYSIS_SELECTED_PEAK_H_
