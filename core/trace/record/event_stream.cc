#include "core/trace/record/event_stream.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace heapgauge::trace {
namespace {

// How long an event of each kind is, 0 for what is none. Kinds are eight bits, most of them none.
struct Lengths {
  uint8_t bytes[256] = {};
  constexpr Lengths() {
    for (size_t kind = 0; kind < std::size(bytes); ++kind) {
      bytes[kind] = static_cast<uint8_t>(
          wire::TraceEventBytes(static_cast<wire::TraceEventKind>(static_cast<uint8_t>(kind))));
    }
  }
};
constexpr Lengths kLengths;

}  // namespace

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
  latest = std::min(latest, kLatest);
  uint64_t least = floor_;
  size_t at = 0;
  while (bytes - at >= sizeof(wire::TraceFree)) {
    // Each word is read once: what was checked is what is kept.
    wire::TraceFree event;
    std::memcpy(&event, source + at, sizeof event);
    __asm__("" : "+r"(event.time), "+r"(event.what));
    const uint32_t size = kLengths.bytes[event.what >> 56];
    if (size == 0 || size > bytes - at) break;
    if (event.time < least || event.time > latest) [[unlikely]] {
      event.time = event.time < least ? least : std::max(least, latest);
    }
    least = event.time;
    std::memcpy(start + at, &event, sizeof event);
    if (size == sizeof(wire::TraceAllocation)) {
      std::memcpy(start + at + sizeof event, source + at + sizeof event,
                  sizeof(wire::TraceAllocation) - sizeof event);
    }
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
