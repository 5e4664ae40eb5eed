#include "core/trace/file/segment_info.h"

#include <algorithm>

#include "core/trace/file/segment_columns.h"
#include "core/trace/file/trace_facts.h"

namespace heapgauge::trace {
namespace {

constexpr size_t kMaxInfoBytes = 256;

// Checks each number against its limit, and remembers if one did not fit.
class Checked {
 public:
  uint32_t Below(uint64_t value, uint64_t limit) {
    ok_ &= value < limit;
    return static_cast<uint32_t>(value);
  }
  bool ok() const { return ok_; }
  void Require(bool holds) { ok_ &= holds; }

 private:
  bool ok_ = true;
};

}  // namespace

void EncodeInfo(const SegmentInfo& i, ColumnWriter* out) {
  for (const uint64_t v :
       {i.first_event, i.first_block, uint64_t{i.events}, uint64_t{i.births}, uint64_t{i.deaths},
        uint64_t{i.old_deaths}, i.oldest_birth + 1, i.begin_ns, i.end_ns, i.live_bytes_before,
        i.live_blocks_before, i.live_bytes_after, i.live_blocks_after, i.peak_bytes,
        uint64_t{i.peak_event}, i.peak_ns - i.begin_ns}) {
    out->Number(v);
  }
}

bool DecodeInfo(ColumnReader* in, SegmentInfo* i) {
  Checked checked;
  constexpr uint64_t kLimit = kLatestNs;
  i->first_event = in->Number();
  i->first_block = in->Number();
  checked.Require(i->first_event < kLimit && i->first_block < kLimit);
  i->events = checked.Below(in->Number(), kMaxSegmentEvents + 1);
  i->births = checked.Below(in->Number(), uint64_t{i->events} + 1);
  i->deaths = checked.Below(in->Number(), uint64_t{i->events} + 1);
  i->old_deaths = checked.Below(in->Number(), uint64_t{i->deaths} + 1);
  checked.Require(uint64_t{i->births} + i->deaths >= i->events);
  i->oldest_birth = in->Number() - 1;
  i->begin_ns = in->Number();
  i->end_ns = in->Number();
  checked.Require(i->begin_ns <= i->end_ns && i->end_ns < kLimit);
  i->live_bytes_before = in->Number();
  i->live_blocks_before = in->Number();
  i->live_bytes_after = in->Number();
  i->live_blocks_after = in->Number();
  i->peak_bytes = in->Number();
  i->peak_event = checked.Below(in->Number(), std::max<uint64_t>(i->events, 1));
  i->peak_ns = i->begin_ns + in->Number();
  checked.Require(i->begin_ns <= i->peak_ns && i->peak_ns <= i->end_ns);
  return in->ok() && checked.ok();
}

Result<SegmentInfo> ReadSegmentInfo(const ByteSource& source, const ChunkReader& chunk) {
  std::vector<uint8_t> bytes;
  HG_TRY(chunk.Column(source, kInfoColumn, kMaxInfoBytes, &bytes));
  ColumnReader in(bytes);
  SegmentInfo info;
  if (!DecodeInfo(&in, &info)) return chunk.Damaged("bad figures of a segment");
  info.offset = chunk.offset();
  info.bytes = chunk.bytes();
  return info;
}

}  // namespace heapgauge::trace
