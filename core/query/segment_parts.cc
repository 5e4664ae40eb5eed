#include "core/query/segment_parts.h"

namespace heapgauge::query {

Result<std::shared_ptr<const trace::Segment>> SegmentParts::Read(size_t index, uint32_t parts) {
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (entry->index != index || (entry->parts & parts) != parts) continue;
    entries_.splice(entries_.begin(), entries_, entry);
    return entries_.front().segment;
  }
  // Segments are large: the memory of one that nobody looks at any more is used again.
  Entry entry;
  if (entries_.size() >= kKept) {
    entry = std::move(entries_.back());
    entries_.pop_back();
  }
  if (entry.segment == nullptr || entry.segment.use_count() > 1) {
    entry.segment = std::make_shared<trace::Segment>();
  }
  entry.index = index;
  entry.parts = parts;
  ++reads_;
  parts_read_ |= parts;
  HG_TRY(trace_.ReadSegment(index, parts, entry.segment.get()));
  entries_.push_front(std::move(entry));
  return entries_.front().segment;
}

}  // namespace heapgauge::query
