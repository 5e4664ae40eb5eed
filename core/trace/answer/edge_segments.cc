#include "core/trace/answer/edge_segments.h"

#include <thread>
#include <utility>

#include "core/base/try_thread.h"

namespace heapgauge::trace {
namespace {

// With what any filter needs (BlockFilter::needed_parts), since those who ask share them.
constexpr uint32_t kNeeded = kOldBlocks | kNewBlocks | kEvents | kDetails;

}  // namespace

// One that nobody else has, to be filled again: its memory is there already.
std::shared_ptr<Segment> SegmentCache::TakeOldest() {
  const std::lock_guard lock(mutex_);
  if (entries_.size() < capacity_) return nullptr;
  std::shared_ptr<Segment> oldest = std::move(entries_.front().segment);
  entries_.pop_front();
  if (oldest.use_count() != 1) return nullptr;
  // Whoever let go of it last has read it. Looking at the count orders nothing, letting go of
  // another one does; ThreadSanitizer knows no fences.
  std::shared_ptr<Segment>(oldest).reset();
  return oldest;
}

Result<std::shared_ptr<const Segment>> SegmentCache::Get(const TraceFile& trace, size_t index) {
  {
    const std::lock_guard lock(mutex_);
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      if (it->index != index) continue;
      Entry found = *it;
      entries_.erase(it);
      entries_.push_back(found);
      return std::shared_ptr<const Segment>(found.segment);
    }
  }
  std::shared_ptr<Segment> segment = TakeOldest();
  if (segment == nullptr) segment = std::make_shared<Segment>();
  HG_TRY(trace.ReadSegment(index, kNeeded, segment.get()));
  const std::lock_guard lock(mutex_);
  if (entries_.size() >= capacity_) entries_.pop_front();
  entries_.push_back({index, segment});
  return std::shared_ptr<const Segment>(segment);
}

Result<std::shared_ptr<const Segment>> EdgeSegments::Read(size_t index) const {
  if (cache_ != nullptr) return cache_->Get(trace_, index);
  auto segment = std::make_shared<Segment>();
  HG_TRY(trace_.ReadSegment(index, kNeeded, segment.get()));
  return std::shared_ptr<const Segment>(segment);
}

Result<const Segment*> EdgeSegments::Get(size_t index) {
  auto& segment = read_[index];
  if (segment == nullptr) {
    HG_ASSIGN(segment, Read(index));
  }
  return segment.get();
}

void EdgeSegments::Prepare(const std::vector<size_t>& indexes) {
  if (indexes.size() < 2 || indexes.front() == indexes.back()) return;
  std::shared_ptr<const Segment> last;
  std::thread other = TryThread([&] {
    if (auto segment = Read(indexes.back())) last = *std::move(segment);
  });
  if (!other.joinable()) return;
  if (auto segment = Read(indexes.front())) read_[indexes.front()] = *std::move(segment);
  other.join();
  if (last != nullptr) read_[indexes.back()] = std::move(last);
}

}  // namespace heapgauge::trace
