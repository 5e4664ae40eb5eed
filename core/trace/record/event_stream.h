// The events of one thread that were taken out of the program's buffers and wait for their turn in
// the merge: checked, decoded, in order of time, in one piece of memory.
//
// One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "core/trace/record/merged_event.h"

namespace heapgauge::trace {

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

}  // namespace heapgauge::trace
