#include "core/trace/record/event_stream.h"

#include <algorithm>
#include <cstring>
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

void EventStream::MakeRoom(size_t events) {
  if (capacity_ - tail_ >= events) return;
  const size_t used = size();
  if (used + events <= capacity_ / 2) {
    std::copy(begin(), end(), events_.get());
  } else {
    const size_t capacity = std::max<size_t>(2 * (used + events), 128);
    auto* const larger = static_cast<MergedEvent*>(::operator new(capacity * sizeof(MergedEvent)));
    std::uninitialized_copy(begin(), end(), larger);
    events_.reset(larger);
    capacity_ = capacity;
  }
  head_ = 0;
  tail_ = used;
}

bool EventStream::Append(const uint8_t* source, size_t bytes, uint64_t latest) {
  if (empty()) head_ = tail_ = 0;
  used_ = true;
  MakeRoom(bytes / sizeof(wire::TraceFree));
  MergedEvent* out = end();
  latest = std::min(latest, kLatest);
  uint64_t least = floor_;
  size_t at = 0;
  for (; bytes - at >= sizeof(wire::TraceFree); ++out) {
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
    out->time = event.time;
    out->what = event.what;
    out->thread = index_;
    if (size == sizeof(wire::TraceAllocation)) {
      std::memcpy(static_cast<AllocationDetails*>(out), source + at + sizeof event,
                  sizeof(AllocationDetails));
    }
    at += size;
  }
  tail_ = static_cast<size_t>(out - events_.get());
  floor_ = least;
  return at == bytes;
}

void EventStream::Trim() {
  const bool used = std::exchange(used_, false);
  if (used || !empty()) return;
  events_.reset();
  capacity_ = head_ = tail_ = 0;
}

}  // namespace heapgauge::trace
