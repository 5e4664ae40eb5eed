#include "core/trace/record/merge.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace heapgauge::trace {
namespace {

using wire::TraceEventKind;

// Times are far below this; the greatest key is left for "no more".
constexpr uint64_t kLatest = std::numeric_limits<uint64_t>::max() / 2 - 1;
constexpr uint64_t kNoKey = std::numeric_limits<uint64_t>::max();

// Orders events by time, and of two at the same time the one that takes away.
uint64_t KeyOf(const wire::TraceFree& event) {
  const TraceEventKind kind = wire::TraceKindOf(event.what);
  const bool takes = kind == TraceEventKind::kFree || kind == TraceEventKind::kResizeBegin ||
                     kind == TraceEventKind::kUnmap;
  return (std::min(event.time, kLatest) << 1) | (takes ? 0 : 1);
}

wire::TraceFree Peek(const uint8_t* at) {
  wire::TraceFree event;
  std::memcpy(&event, at, sizeof event);
  return event;
}

}  // namespace

void Merge::Start(const std::vector<EventStream*>& streams, uint64_t watermark) {
  heads_.clear();
  last_key_ = std::min(watermark, kLatest) << 1 | 1;
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
  size_t made = 0;
  while (made < room && !heads_.empty()) {
    EventStream* const stream = heads_[0].stream;
    const uint64_t limit = std::min(last_key_, SecondKey());
    const uint8_t* at = stream->begin();
    const uint8_t* const end = stream->end();
    const uint32_t thread = stream->index();
    uint64_t key = heads_[0].key;
    // The stream's events were checked when they came in: each is whole.
    while (made < room && key <= limit) {
      const wire::TraceFree event = Peek(at);
      MergedEvent& merged = out[made++];
      merged.time = event.time;
      merged.what = event.what;
      merged.thread = thread;
      if (wire::TraceEventBytes(wire::TraceKindOf(event.what)) == sizeof(wire::TraceAllocation)) {
        wire::TraceAllocation whole;
        std::memcpy(&whole, at, sizeof whole);
        merged.size = whole.size;
        merged.stack = whole.stack;
        merged.slack = whole.slack;
        merged.function = whole.function;
        merged.alignment_log2 = whole.alignment_log2;
        at += sizeof whole;
      } else {
        at += sizeof event;
      }
      key = at == end ? kNoKey : KeyOf(Peek(at));
    }
    stream->Consume(static_cast<size_t>(at - stream->begin()));
    if (stream->empty() || key > last_key_) {
      heads_[0] = heads_.back();
      heads_.pop_back();
    } else {
      heads_[0].key = key;
    }
    if (!heads_.empty()) SiftDown(0);
  }
  return made;
}

}  // namespace heapgauge::trace
