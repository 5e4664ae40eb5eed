// Puts the events of all threads into one order of time.
//
// Threads seldom take turns at every event: what one of them did in a stretch, up to the next event
// of another, goes in one piece; a long one where it lies, short ones side by side. Equal times:
// what takes a block away comes before what may hand it out again.
//
// One thread; allocates only when there are more streams than ever before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/trace/record/event_stream.h"
#include "core/trace/record/merged_event.h"

namespace heapgauge::trace {

class Merge {
 public:
  // Never more events at once.
  explicit Merge(size_t most) : batch_(most) {}

  // Begins to merge all events up to `watermark`. The streams must stay as they are until Next has
  // returned nothing.
  void Start(const std::vector<EventStream*>& streams, uint64_t watermark);
  // Takes the next events out of the streams; none when there are no more. They may be changed, and
  // are there until the next call.
  std::span<MergedEvent> Next();

 private:
  struct Head {
    uint64_t key = 0;  // of its next event
    EventStream* stream = nullptr;
  };
  void SiftDown(size_t at);
  // The least key of all streams but the first.
  uint64_t SecondKey() const;
  // What the first stream may give before any other, `most` at the most.
  std::span<MergedEvent> TakeStretch(size_t most);

  std::vector<Head> heads_;  // a heap, the least key first
  uint64_t last_key_ = 0;    // greatest that may go
  std::vector<MergedEvent> batch_;
};

}  // namespace heapgauge::trace
