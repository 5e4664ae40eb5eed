#include "core/trace/record/event_stream.h"

#include <algorithm>
#include <utility>

namespace heapgauge::trace {

void EventStream::MakeRoom(size_t bytes) {
  if (capacity_ - tail_ >= bytes) return;
  const size_t used = this->bytes();
  if (used + bytes <= capacity_ / 2) {
    std::memmove(data_.get(), begin(), used);
  } else {
    const size_t capacity = std::max<size_t>(2 * (used + bytes), 4096);
    std::unique_ptr<uint8_t[]> larger(new uint8_t[capacity]);
    if (used != 0) std::memcpy(larger.get(), begin(), used);
    data_ = std::move(larger);
    capacity_ = capacity;
  }
  head_ = 0;
  tail_ = used;
}

bool EventStream::Append(const uint8_t* source, size_t bytes, uint64_t latest) {
  if (empty()) head_ = tail_ = 0;
  used_ = true;
  MakeRoom(bytes);
  uint8_t* const start = data_.get() + tail_;
  std::memcpy(start, source, bytes);
  uint64_t least = floor_;
  size_t at = 0;
  while (at + sizeof(wire::TraceFree) <= bytes) {
    wire::TraceFree event;
    std::memcpy(&event, start + at, sizeof event);
    const uint32_t size = wire::TraceEventBytes(wire::TraceKindOf(event.what));
    if (size == 0 || size > bytes - at) break;
    if (event.time < least || event.time > latest) [[unlikely]] {
      event.time = event.time < least ? least : std::max(least, latest);
      std::memcpy(start + at, &event.time, sizeof event.time);
    }
    least = event.time;
    at += size;
  }
  tail_ += at;
  floor_ = least;
  return at == bytes;
}

void EventStream::Trim() {
  const bool used = std::exchange(used_, false);
  if (used || !empty()) return;
  data_.reset();
  capacity_ = head_ = tail_ = 0;
}

}  // namespace heapgauge::trace
