// The past of the heap, in the gauge file: the heap at its highest (Peak), and totals over time.
//
// Allocation-free.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/sys/try_lock.h"
#include "agent/table/gauge_file.h"
#include "agent/table/live_table.h"

namespace heapgauge::agent {

// The heap at its highest: taken again whenever the live estimate rises 5 % above the last one. Two
// buffers take turns, so that the older picture stays whole until the newer one is.
//
// Copies every live sample; at 5 % steps that is 20 copies per sample of growth, some nanoseconds
// each. One thread takes it, others pass by. Zeroed memory is a fresh one.
class Peak {
 public:
  void TakeIfHigher(GaugeFile* file, const LiveTable& live, uint64_t live_bytes,
                    uint64_t live_objects, uint64_t now_ns, uint64_t reset_ns) {
    const uint64_t last = highest_.load(std::memory_order_relaxed);
    if (live_bytes > last + last / 20) Take(file, live, live_bytes, live_objects, now_ns, reset_ns);
  }
  void Clear(GaugeFile* file);
  // In a forked child: its own peak starts anew.
  void Forget() {
    highest_.store(0);
    taking_.Unlock();
    current_ = 0;
  }

 private:
  void Take(GaugeFile* file, const LiveTable& live, uint64_t live_bytes, uint64_t live_objects,
            uint64_t now_ns, uint64_t reset_ns);

  std::atomic<uint64_t> highest_;
  TryLock taking_;
  uint32_t current_ = 0;  // as wire::Header::peak_current
};

// Takes a tick of the totals over time if the last one is a second old. True if it did. The thread
// that samples when a second has passed does this, or a process outside; see wire::TimelineRecord
// for the rings. Lock-free, async-signal-safe.
bool TickIfDue(GaugeFile* file, uint64_t now_ns);

void ClearTimeline(GaugeFile* file);

}  // namespace heapgauge::agent
