#include "core/trace/record/merge.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace heapgauge::trace {
namespace {

using wire::TraceEventKind;

constexpr uint64_t kNoKey = std::numeric_limits<uint64_t>::max();

constexpr uint32_t Bit(TraceEventKind kind) { return 1U << static_cast<uint32_t>(kind); }
constexpr uint32_t kTaking =
    Bit(TraceEventKind::kFree) | Bit(TraceEventKind::kResizeBegin) | Bit(TraceEventKind::kUnmap);
constexpr uint32_t kLong = Bit(TraceEventKind::kAllocate) | Bit(TraceEventKind::kResizeEnd) |
                           Bit(TraceEventKind::kMap) | Bit(TraceEventKind::kUnmap);

// Orders events by time, and of two at the same time the one that takes away. The stream saw to it
// that times leave room for that.
uint64_t KeyOf(const wire::TraceFree& event) {
  return event.time << 1 | (~kTaking >> (event.what >> 56) & 1);
}

wire::TraceFree Peek(const uint8_t* at) {
  wire::TraceFree event;
  std::memcpy(&event, at, sizeof event);
  return event;
}

// Those of `from` to `end` whose key is at most `limit`. The events of a stream were checked when
// they came in: each is whole.
struct Stretch {
  const uint8_t* at;  // of the next event
  MergedEvent* out;   // where it goes
};
Stretch Decode(const uint8_t* from, const uint8_t* end, uint64_t limit, uint32_t thread,
               MergedEvent* out, const MergedEvent* out_end) {
  // Before this all may go, whatever they are.
  const uint64_t sure = limit >> 1;
  for (; from != end && out != out_end; ++out) {
    const wire::TraceFree event = Peek(from);
    if (event.time >= sure && KeyOf(event) > limit) [[unlikely]]
      break;
    out->time = event.time;
    out->what = event.what;
    out->thread = thread;
    from += sizeof event;
    if ((kLong >> (event.what >> 56) & 1) != 0) {
      std::memcpy(static_cast<AllocationDetails*>(out), from, sizeof(AllocationDetails));
      from += sizeof(AllocationDetails);
    }
  }
  return {from, out};
}

}  // namespace

void Merge::Start(const std::vector<EventStream*>& streams, uint64_t watermark) {
  heads_.clear();
  last_key_ = std::min(watermark, EventStream::kLatest) << 1 | 1;
  for (EventStream* const stream : streams) {
    if (stream->empty()) continue;
    const uint64_t key = KeyOf(Peek(stream->begin()));
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

size_t Merge::Next(MergedEvent* out, size_t room) {
  MergedEvent* at = out;
  MergedEvent* const end = out + room;
  while (at != end && !heads_.empty()) {
    EventStream* const stream = heads_[0].stream;
    const uint64_t limit = std::min(last_key_, SecondKey());
    const Stretch stretch = Decode(stream->begin(), stream->end(), limit, stream->index(), at, end);
    at = stretch.out;
    stream->Consume(static_cast<size_t>(stretch.at - stream->begin()));
    const uint64_t key = stream->empty() ? kNoKey : KeyOf(Peek(stream->begin()));
    if (key > last_key_) {
      heads_[0] = heads_.back();
      heads_.pop_back();
    } else {
      heads_[0].key = key;
    }
    if (heads_.size() > 1) SiftDown(0);
  }
  return static_cast<size_t>(at - out);
}

}  // namespace heapgauge::trace
