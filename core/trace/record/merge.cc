#include "core/trace/record/merge.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
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

namespace {

using wire::TraceEventKind;

constexpr uint64_t kNoKey = std::numeric_limits<uint64_t>::max();

constexpr uint32_t Bit(TraceEventKind kind) { return 1U << static_cast<uint32_t>(kind); }
constexpr uint32_t kTaking =
    Bit(TraceEventKind::kFree) | Bit(TraceEventKind::kResizeBegin) | Bit(TraceEventKind::kUnmap);

// So many events are worth being handed on by themselves.
constexpr size_t kLongStretch = 64;

// Orders events by time, and of two at the same time the one that takes away. The stream saw to it
// that times leave room for that.
uint64_t KeyOf(const MergedEvent& event) {
  return event.time << 1 | (~kTaking >> (event.what >> 56) & 1);
}

// How many of the events may go before one whose key is above `limit` stands in the way.
size_t CountUpTo(std::span<const MergedEvent> events, uint64_t limit) {
  // Before this all may go, whatever they are.
  const uint64_t sure = limit >> 1;
  if (!events.empty() && events.back().time < sure) return events.size();
  size_t count = 0;
  while (count < events.size() && (events[count].time < sure || KeyOf(events[count]) <= limit)) {
    ++count;
  }
  return count;
}

}  // namespace

void Merge::Start(const std::vector<EventStream*>& streams, uint64_t watermark) {
  heads_.clear();
  last_key_ = std::min(watermark, EventStream::kLatest) << 1 | 1;
  for (EventStream* const stream : streams) {
    if (stream->empty()) continue;
    const uint64_t key = KeyOf(stream->front());
    if (key <= last_key_) heads_.push_back({key, stream});
  }
  for (size_t i = heads_.size() / 2; i-- > 0;) SiftDown(i);
}

void Merge::SiftDown(size_t at) {
  const Head moved = heads_[at];
  while (true) {
    size_t child = 2 * at + 1;
    if (child >= heads_.size()) break;
    if (child + 1 < heads_.size() && heads_[child + 1].key < heads_[child].key) ++child;
    if (heads_[child].key >= moved.key) break;
    heads_[at] = heads_[child];
    at = child;
  }
  heads_[at] = moved;
}

uint64_t Merge::SecondKey() const {
  uint64_t least = kNoKey;
  if (heads_.size() > 1) least = heads_[1].key;
  if (heads_.size() > 2) least = std::min(least, heads_[2].key);
  return least;
}

std::span<MergedEvent> Merge::TakeStretch(size_t most) {
  EventStream* const stream = heads_[0].stream;
  const std::span<MergedEvent> first(stream->begin(), std::min(stream->size(), most));
  const std::span<MergedEvent> stretch =
      first.first(CountUpTo(first, std::min(last_key_, SecondKey())));
  stream->Consume(stretch.size());
  const uint64_t key = stream->empty() ? kNoKey : KeyOf(stream->front());
  if (key > last_key_) {
    heads_[0] = heads_.back();
    heads_.pop_back();
  } else {
    heads_[0].key = key;
  }
  if (heads_.size() > 1) SiftDown(0);
  return stretch;
}

std::span<MergedEvent> Merge::Next() {
  size_t count = 0;
  while (count < batch_.size() && !heads_.empty()) {
    const std::span<MergedEvent> stretch = TakeStretch(batch_.size() - count);
    if (count == 0 && (stretch.size() >= kLongStretch || heads_.empty())) return stretch;
    std::copy(stretch.begin(), stretch.end(), batch_.begin() + static_cast<ptrdiff_t>(count));
    count += stretch.size();
  }
  return std::span(batch_).first(count);
}

}  // namespace heapgauge::trace
