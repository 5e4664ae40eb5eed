// Puts the events of all threads into one order of time.
//
// Threads seldom take turns at every event: what one of them did in a stretch is copied in one go,
// up to the next event of another. Equal times: what takes a block away comes before what may hand
// it out again.
//
// One thread; allocates only when there are more streams than ever before.
#ifndef HEAPGAUGE_CORE_TRACE_RECORD_MERGE_H_
#define HEAPGAUGE_CORE_TRACE_RECORD_MERGE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/trace/record/event_stream.h"
#include "core/trace/record/merged_event.h"

namespace heapgauge::trace {

class Merge {
 public:
  // Begins to merge all events up to `watermark`. The streams must stay as they are until Next has
  // returned 0.
  void Start(const std::vector<EventStream*>& streams, uint64_t watermark);
  // Takes up to `room` events out of the streams; 0 when there are no more.
  size_t Next(MergedEvent* out, size_t room);

 private:
  struct Head {
    uint64_t key = 0;  // of its next event
    EventStream* stream = nullptr;
  };
  void SiftDown(size_t at);
  // The least key of all streams but the first.
  uint64_t SecondKey() const;

  std::vector<Head> heads_;  // a heap, the least key first
  uint64_t last_key_ = 0;    // greatest that may go
};

}  // namespace heapgauge::trace

#endif  // HEAPGAUGE_CORE_TRACE_RECORD_MERGE_H_
