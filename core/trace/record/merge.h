// The events of each thread, decoded, and how those of all threads come into one order of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "wire/trace_buffer.h"

namespace heapgauge::trace {

// What an allocation tells beyond a free, as wire::TraceAllocation has it.
struct AllocationDetails {
  uint64_t size = 0;
  uint32_t stack = 0;
  uint16_t slack = 0;
  uint8_t function = 0;
  uint8_t alignment_log2 = 0;
};
static_assert(sizeof(AllocationDetails) == sizeof(wire::TraceAllocation) - sizeof(wire::TraceFree));

// One event of a traced program as it goes from its buffer to the matching: decoded, with the
// thread it came from. Plain data.
//
// Details of a free mean nothing.
struct MergedEvent : AllocationDetails {
  uint64_t time = 0;    // of the program's clock; the matcher gets nanoseconds since the start
  uint64_t what = 0;    // as in wire::TraceFree
  uint32_t thread = 0;  // index

  wire::TraceEventKind kind() const { return wire::TraceKindOf(what); }
  uint64_t address() const { return wire::TraceAddressOf(what); }
};

// The events of one thread that were taken out of the program's buffers and wait for their turn in
// the merge: checked, decoded, in order of time, in one piece of memory.
//
// One thread.
class EventStream {
 public:
  // No event is later, however high the program's clock is.
  static constexpr uint64_t kLatest = UINT64_MAX / 2 - 1;

  EventStream(uint64_t token, uint32_t thread, uint32_t index, uint64_t floor,
              std::string name = "")
      : token_(token), thread_(thread), index_(index), floor_(floor), name_(std::move(name)) {}

  uint64_t token() const { return token_; }
  uint32_t thread() const { return thread_; }  // kernel id
  uint32_t index() const { return index_; }    // of threads, in order of appearance

  const std::string& name() const { return name_; }  // at its first event, "" unknown

  bool empty() const { return head_ == tail_; }
  size_t size() const { return tail_ - head_; }
  size_t bytes() const { return size() * sizeof(MergedEvent); }
  // Whoever takes events out may change them first. They stay where they are until the next Append.
  MergedEvent* begin() { return events_.get() + head_; }
  MergedEvent* end() { return events_.get() + tail_; }
  // REQUIRES: not empty.
  const MergedEvent& front() const { return events_[head_]; }
  void Consume(size_t events) { head_ += events; }

  // Takes events from memory that another process may be changing, and checks them: time is made to
  // never go back nor beyond `latest`, and what comes after something that is no event is left out.
  // Returns false in that case.
  bool Append(const uint8_t* source, size_t bytes, uint64_t latest);
  // Gives memory back that was not needed since the last call.
  void Trim();

  // The next event will not be earlier than this.
  uint64_t floor() const { return floor_; }
  void RaiseFloor(uint64_t time) {
    if (time > floor_) floor_ = time;
  }

 private:
  struct Unmake {
    void operator()(MergedEvent* events) const { ::operator delete(events); }
  };
  void MakeRoom(size_t events);

  uint64_t token_;
  uint32_t thread_;
  uint32_t index_;
  uint64_t floor_;
  std::string name_;
  std::unique_ptr<MergedEvent[], Unmake> events_;  // memory that is touched when they come
  size_t capacity_ = 0;                            // events
  size_t head_ = 0;
  size_t tail_ = 0;
  bool used_ = false;  // since the last Trim
};

// Puts the events of all threads into one order of time.
//
// Threads seldom take turns at every event: what one of them did in a stretch, up to the next event
// of another, goes in one piece; a long one where it lies, short ones side by side. Equal times:
// what takes a block away comes before what may hand it out again.
//
// One thread; allocates only when there are more streams than ever before.
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
