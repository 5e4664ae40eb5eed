#include "core/trace/record/buffer_reader.h"

#include <algorithm>
#include <limits>

#include "core/base/text.h"

namespace heapgauge::trace {
namespace {

using wire::TraceBufferHeader;

constexpr uint32_t kHeaderBytes = sizeof(TraceBufferHeader);
// What a stream may have although all together have too much.
constexpr size_t kAlwaysBytes = 4096;
// A source without buffers is kept: the thread may take one again.
constexpr size_t kMostStreams = 1 << 20;
// All further ones are taken for one and the same: who knows as many is lying or needs no names.
constexpr uint32_t kMostThreads = 1 << 22;

std::string NameIn(const TraceBufferHeader& header) {
  const uint64_t words[] = {LoadShared(header.name[0]), LoadShared(header.name[1])};
  const std::string_view text(reinterpret_cast<const char*>(words), sizeof words);
  return Printable(text.substr(0, text.find('\0')));
}

}  // namespace

struct BufferReader::Source {
  explicit Source(EventStream made) : stream(std::move(made)) {}
  EventStream stream;
  std::vector<uint32_t> buffers;  // indices, of those taken and not released
  bool is_active = false;
  bool gone = false;
  // Of the same thread, for buffers that it has beside an open one: those of a signal handler that
  // came while the thread was adding an event.
  std::unique_ptr<Source> beside;

  bool is_idle() const { return buffers.empty() && stream.empty() && beside == nullptr; }
};

BufferReader::BufferReader(MappedGauge* gauge, Options options)
    : gauge_(gauge), options_(std::move(options)) {}

BufferReader::~BufferReader() = default;

void BufferReader::FindBuffers() {
  gauge_->Refresh();
  const auto look = [this](uint32_t ordinal) {
    uint8_t* const start = gauge_->mutable_segment(wire::SegmentKind::kTrace, ordinal);
    if (start == nullptr) return false;
    Buffer buffer;
    buffer.header = reinterpret_cast<TraceBufferHeader*>(start);
    buffer.released = LoadShared(buffer.header->released);
    buffers_.push_back(buffer);
    return true;
  };
  if (!missing_ordinals_.empty()) {
    missing_ordinals_.erase(
        std::remove_if(missing_ordinals_.begin(), missing_ordinals_.end(), look),
        missing_ordinals_.end());
  }
  const uint32_t count = gauge_->segment_count(wire::SegmentKind::kTrace);
  for (; seen_ordinals_ < count; ++seen_ordinals_) {
    if (!look(seen_ordinals_)) missing_ordinals_.push_back(seen_ordinals_);
  }
}

BufferReader::Source* BufferReader::SourceOf(const TraceBufferHeader& header) {
  const uint64_t token = LoadShared(header.token);
  auto& source = sources_[token];
  if (source == nullptr) {
    // It did not write anything before the last pass, or it would have been seen there.
    source = std::make_unique<Source>(
        EventStream(token, LoadShared(header.thread), next_index_, last_horizon_, NameIn(header)));
    threads_ = next_index_ + 1;
    if (threads_ < kMostThreads) ++next_index_;
    order_.push_back(&source->stream);
  }
  return source.get();
}

// True if there were any.
bool BufferReader::FindTaken() {
  bool any = false;
  for (size_t i = 0; i < buffers_.size(); ++i) {
    Buffer& buffer = buffers_[i];
    const uint32_t round = LoadShared(buffer.header->round);
    if (round == buffer.released || round == buffer.round) continue;
    any = true;
    buffer.round = round;
    buffer.offset = kHeaderBytes;
    buffer.seen = 0;
    if (buffer.source != nullptr) {  // taken again although it was not released: nonsense
      ++damaged_;
      auto& list = buffer.source->buffers;
      list.erase(std::remove(list.begin(), list.end(), static_cast<uint32_t>(i)), list.end());
      buffer.source = nullptr;
    }
    if (sources_.size() >= kMostStreams) {
      ++damaged_;
      Release(&buffer);
      continue;
    }
    Source* const source = SourceOf(*buffer.header);
    buffer.source = source;
    buffer.thread = LoadShared(buffer.header->thread);
    buffer.gone = false;
    source->buffers.push_back(static_cast<uint32_t>(i));
    source->gone = false;
    Activate(source);
  }
  return any;
}

void BufferReader::Activate(Source* source) {
  if (source->is_active) return;
  source->is_active = true;
  active_.push_back(source);
}

// All buffers of the source but this one get a stream of their own.
void BufferReader::PartFrom(Source* source, const Buffer* buffer) {
  if (source->beside == nullptr) {
    const EventStream& stream = source->stream;
    source->beside =
        std::make_unique<Source>(EventStream(stream.token(), stream.thread(), stream.index(), 0));
    order_.push_back(&source->beside->stream);
  }
  const auto own = static_cast<uint32_t>(buffer - buffers_.data());
  for (const uint32_t index : source->buffers) {
    if (index == own) continue;
    buffers_[index].source = source->beside.get();
    source->beside->buffers.push_back(index);
  }
  source->buffers.assign(1, own);
  Activate(source->beside.get());
}

void BufferReader::Release(Buffer* buffer) {
  buffer->released = buffer->round;
  std::atomic_ref<uint32_t>(buffer->header->released)
      .store(buffer->round, std::memory_order_release);
  released_ = true;
  if (buffer->source == nullptr) return;
  auto& list = buffer->source->buffers;
  const auto index = static_cast<uint32_t>(buffer - buffers_.data());
  list.erase(std::remove(list.begin(), list.end(), index), list.end());
  buffer->source = nullptr;
}

// The one whose first event that was not read is the earliest; one without events comes last.
BufferReader::Buffer* BufferReader::OldestOf(Source* source) {
  if (source->buffers.size() == 1) return &buffers_[source->buffers[0]];
  Buffer* oldest = nullptr;
  uint64_t oldest_time = 0;
  for (const uint32_t index : source->buffers) {
    Buffer* const buffer = &buffers_[index];
    uint64_t time = std::numeric_limits<uint64_t>::max();
    // One that was begun comes before all that were not.
    if (buffer->offset != kHeaderBytes) {
      time = 0;
    } else if ((LoadShared(buffer->header->position) & ~1U) > kHeaderBytes) {
      const auto* const start = reinterpret_cast<const uint8_t*>(buffer->header);
      time = LoadShared(*reinterpret_cast<const uint64_t*>(start + kHeaderBytes));
    }
    if (oldest == nullptr || time < oldest_time) {
      oldest = buffer;
      oldest_time = time;
    }
  }
  return oldest;
}

// Copies up to `end`, as far as there is room.
size_t BufferReader::Copy(Buffer* buffer, uint32_t end, bool* all) {
  *all = true;
  if (end == buffer->offset) return 0;
  EventStream* const stream = &buffer->source->stream;
  if (queued_ >= most_queued_ && stream->bytes() >= kAlwaysBytes) {
    *all = false;
    return 0;
  }
  const uint32_t bytes = end - buffer->offset;
  const auto* const start = reinterpret_cast<const uint8_t*>(buffer->header);
  // The clock may be read a little before the words that came with the position.
  const uint64_t latest = options_.clock() + options_.slack;
  const size_t before = stream->bytes();
  if (!stream->Append(start + buffer->offset, bytes, latest)) ++damaged_;
  buffer->offset = end;
  queued_ += stream->bytes() - before;
  return bytes;
}

void BufferReader::ReadSource(Source* source, bool last, Pass* pass) {
  while (!source->buffers.empty()) {
    Buffer* const buffer = OldestOf(source);
    // In this order: if it is closed, the position is the last one.
    const bool closed = LoadShared(buffer->header->closed) == buffer->round;
    const uint32_t position = LoadShared(buffer->header->position);
    const bool odd = (position & 1) != 0;
    const uint32_t end = position & ~1U;
    if (end < buffer->offset || end > wire::kSegmentBytes || end % 8 != 0) {
      ++damaged_;
      Release(buffer);
      continue;
    }
    bool all = true;
    pass->bytes += Copy(buffer, end, &all);
    if (!all) {
      pass->left = true;
      pass->watermark = std::min(pass->watermark, source->stream.floor());
      return;
    }
    if (closed || last) {
      Release(buffer);
      continue;
    }
    // The other ones were known before we looked whether this one is closed.
    if (source->buffers.size() > 1) PartFrom(source, buffer);
    if (!odd) {
      source->stream.RaiseFloor(horizon_);
      buffer->seen = 0;
      return;
    }
    if (buffer->seen != position) {
      buffer->seen = position;
      buffer->odd_since = now_;
    }
    if (now_ - buffer->odd_since <= options_.patience) {
      pass->watermark = std::min(pass->watermark, source->stream.floor());
    }
    return;
  }
}

BufferReader::Pass BufferReader::ReadAll(bool last) {
  now_ = options_.clock();
  horizon_ = now_ > options_.slack ? now_ - options_.slack : 0;
  horizon_ = std::max(horizon_, last_horizon_);
  Pass pass;
  pass.watermark = last ? std::numeric_limits<uint64_t>::max() : horizon_;
  queued_ = queued_bytes();
  const bool waited_for = LoadShared(gauge_->control().waiting) != 0;
  most_queued_ = waited_for ? options_.queue_bytes
                            : std::min(options_.usual_queue_bytes, options_.queue_bytes);
  released_ = false;
  // While we look, a thread may take a buffer that we have passed, or one that it has just made,
  // and then one that we have not passed; and the second must not be read before the first. A look
  // at all there are that finds nothing new tells that whatever is missing was taken after all that
  // is known. Since nothing is given back meanwhile, each buffer is found once; a program that says
  // otherwise is not believed.
  size_t looks = 0;
  do {
    FindBuffers();
  } while (FindTaken() && looks++ < buffers_.size());
  size_t kept = 0;
  for (size_t i = 0; i < active_.size(); ++i) {  // grows meanwhile
    Source* const source = active_[i];
    ReadSource(source, last, &pass);
    if (source->buffers.empty()) {
      source->is_active = false;
    } else {
      active_[kept++] = source;
    }
  }
  active_.resize(kept);
  last_horizon_ = horizon_;
  if (released_) gauge_->TellReleased();
  return pass;
}

BufferReader::Pass BufferReader::Read() { return ReadAll(false); }
BufferReader::Pass BufferReader::ReadLast() { return ReadAll(true); }

// Reads a buffer that nobody fills any more; false if there was no room for all of it.
bool BufferReader::Abandon(Buffer* buffer) {
  const uint32_t end = LoadShared(buffer->header->position) & ~1U;
  if (end >= buffer->offset && end <= wire::kSegmentBytes && end % 8 == 0) {
    bool all = true;
    Copy(buffer, end, &all);
    if (!all) return false;
  } else {
    ++damaged_;
  }
  Release(buffer);
  return true;
}

void BufferReader::ReleaseGone(const std::function<bool(uint32_t)>& exists) {
  // The newest thread of each kernel id: those before it are gone.
  std::unordered_map<uint32_t, uint64_t> newest;
  for (const Buffer& buffer : buffers_) {
    if (buffer.source == nullptr || buffer.thread == 0) continue;
    uint64_t& token = newest[buffer.thread];
    token = std::max(token, buffer.source->stream.token());
  }
  std::unordered_map<uint32_t, bool> answers;
  const auto is_there = [&](uint32_t thread) {
    if (thread == 0) return true;  // nobody can tell
    const auto [it, added] = answers.try_emplace(thread, true);
    if (added) it->second = exists(thread);
    return it->second;
  };
  released_ = false;
  queued_ = queued_bytes();
  most_queued_ = options_.queue_bytes;
  std::vector<Source*> left;
  for (Buffer& buffer : buffers_) {
    if (buffer.source == nullptr) continue;
    buffer.gone = !is_there(buffer.thread) ||
                  (buffer.thread != 0 && newest[buffer.thread] != buffer.source->stream.token());
    if (buffer.gone) left.push_back(buffer.source);
  }
  for (Source* const source : left) {  // one with several buffers is there several times
    while (!source->buffers.empty()) {
      Buffer* const oldest = OldestOf(source);
      if (!oldest->gone || !Abandon(oldest)) break;
    }
  }
  if (released_) gauge_->TellReleased();
  active_.erase(std::remove_if(active_.begin(), active_.end(),
                               [](Source* source) {
                                 if (!source->buffers.empty()) return false;
                                 source->is_active = false;
                                 return true;
                               }),
                active_.end());
  ForgetEmpty(is_there);
}

void BufferReader::ForgetEmpty(const std::function<bool(uint32_t)>& exists) {
  order_.clear();
  for (auto it = sources_.begin(); it != sources_.end();) {
    Source& source = *it->second;
    DropIdle(&source.beside);
    source.stream.Trim();
    if (!source.is_idle() || exists(source.stream.thread())) {
      source.gone = false;
    } else if (source.gone) {
      it = sources_.erase(it);
      continue;
    } else {
      source.gone = true;
    }
    for (Source* one = &source; one != nullptr; one = one->beside.get()) {
      order_.push_back(&one->stream);
    }
    ++it;
  }
  std::sort(order_.begin(), order_.end(),
            [](const EventStream* a, const EventStream* b) { return a->index() < b->index(); });
}

// Those at the end of the row: what is beside one that is in use stays.
void BufferReader::DropIdle(std::unique_ptr<Source>* source) {
  if (*source == nullptr) return;
  DropIdle(&(*source)->beside);
  if ((*source)->is_idle()) source->reset();
}

size_t BufferReader::queued_bytes() const {
  size_t sum = 0;
  for (const EventStream* stream : order_) sum += stream->bytes();
  return sum;
}

size_t BufferReader::taken() const {
  return static_cast<size_t>(std::count_if(buffers_.begin(), buffers_.end(),
                                           [](const Buffer& b) { return b.source != nullptr; }));
}

}  // namespace heapgauge::trace
