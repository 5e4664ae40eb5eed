#include "core/trace/file/segment_decoder.h"

#include <algorithm>

#include "core/trace/file/segment_columns.h"

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

struct Columns {
  std::vector<uint8_t> bytes[16];
  ColumnReader readers[16];
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
  constexpr uint64_t kLimit = uint64_t{1} << 62;  // sums of several do not wrap
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

Status DecodeSegment(const ByteSource& source, const ChunkReader& chunk, const SegmentInfo& info,
                     const SegmentLimits& limits, uint32_t parts, Segment* out) {
  out->info = info;
  out->events.clear();
  out->blocks.clear();
  const bool addresses = (parts & kAddresses) != 0;
  const bool details = (parts & kDetails) != 0;
  const bool events = (parts & kEvents) != 0;
  const bool want_old = events || (parts & kOldBlocks) != 0;
  const bool want_new = events || (parts & kNewBlocks) != 0;
  if (!want_old && !want_new) return {};
  Columns c;
  const auto load = [&](SegmentColumn id, bool wanted) -> Status {
    if (!wanted) return {};
    const size_t limit = size_t{info.events} * 80 + 64;
    HG_TRY(chunk.Column(source, id, limit, &c.bytes[id]));
    c.readers[id] = ColumnReader(c.bytes[id]);
    return {};
  };
  HG_TRY(load(kKindColumn, true));
  HG_TRY(load(kTimeColumn, true));
  HG_TRY(load(kDeathColumn, true));
  HG_TRY(load(kBirthColumn, want_new));
  HG_TRY(load(kOldColumn, true));
  HG_TRY(load(kAddressColumn, addresses && want_new));
  HG_TRY(load(kOldAddressColumn, addresses && want_old));
  HG_TRY(load(kDetailColumn, details && want_new));
  HG_TRY(load(kOldDetailColumn, details && want_old));
  if (c.bytes[kKindColumn].size() != info.events) return chunk.Damaged("bad events");

  const uint32_t old_count = want_old ? info.old_deaths : 0;
  out->blocks.resize(size_t{old_count} + (want_new ? info.births : 0));
  if (events) out->events.resize(info.events);
  Checked checked;
  uint64_t time = 0;
  uint32_t old_index = 0;
  uint32_t new_index = 0;
  const auto thread = [&](uint64_t stored) {
    checked.Require(stored <= limits.threads);
    return static_cast<uint32_t>(stored) - 1;
  };
  for (uint32_t i = 0; i < info.events; ++i) {
    const uint8_t kind = c.readers[kKindColumn].Byte();
    const bool born = (kind & 1) != 0;
    const bool died = (kind & 2) != 0;
    const bool old = died && (kind & 4) != 0;
    time += c.readers[kTimeColumn].Number();
    uint32_t died_index = kNoIndex;
    uint64_t died_number = kNoBlock;
    if (died) {
      ColumnReader& in = c.readers[kDeathColumn];
      const uint64_t index = in.Number();
      const uint32_t death_thread = thread(in.Number());
      const auto distance = static_cast<uint32_t>(in.Number()) - 1;
      Block* block = nullptr;
      Block skipped;
      if (old) {
        if (old_index == info.old_deaths) return chunk.Damaged("too many old blocks");
        block = want_old ? &out->blocks[old_index] : &skipped;
        *block = {};
        died_index = old_index++;
        ColumnReader& o = c.readers[kOldColumn];
        block->number = o.Number();
        block->birth_ns = o.Number();
        block->stack = checked.Below(o.Number(), limits.stacks);
        block->thread = thread(o.Number());
        block->size = o.Number();
        block->is_mapping = o.Byte() != 0;
        block->previous = o.Number() - 1;
        checked.Require(block->number < info.first_block && block->birth_ns <= time);
        if (addresses && want_old) block->address = c.readers[kOldAddressColumn].Number();
        if (details && want_old) {
          ColumnReader& d = c.readers[kOldDetailColumn];
          block->slack = static_cast<uint16_t>(d.Number());
          block->function = d.Byte();
          block->alignment_log2 = d.Byte();
        }
        died_number = block->number;
      } else {
        if (index >= new_index) return chunk.Damaged("a block that was not born");
        died_number = info.first_block + index;
        block = want_new ? &out->blocks[old_count + index] : &skipped;
        died_index = old_count + static_cast<uint32_t>(index);
        checked.Require(block->death_ns == kNever);
      }
      block->death_ns = time;
      block->death_thread = death_thread;
      block->distance = distance;
      block->resized_away = born;
    }
    if (born) {
      if (new_index == info.births) return chunk.Damaged("too many births");
      if (want_new) {
        Block& block = out->blocks[old_count + new_index];
        block = {};
        ColumnReader& b = c.readers[kBirthColumn];
        block.number = info.first_block + new_index;
        block.birth_ns = time;
        block.stack = checked.Below(b.Number(), limits.stacks);
        block.thread = thread(b.Number());
        block.size = b.Number();
        block.is_mapping = b.Byte() != 0;
        block.previous = died_number;
        if (addresses) block.address = c.readers[kAddressColumn].Number();
        if (details) {
          ColumnReader& d = c.readers[kDetailColumn];
          block.slack = static_cast<uint16_t>(d.Number());
          block.function = d.Byte();
          block.alignment_log2 = d.Byte();
        }
      }
      ++new_index;
    }
    if (events) {
      out->events[i] = {time, born ? old_count + new_index - 1 : kNoIndex, died_index};
    }
  }
  if (new_index != info.births || old_index != info.old_deaths || !checked.ok()) {
    return chunk.Damaged("its events contradict each other");
  }
  for (const ColumnReader& reader : c.readers) {
    if (!reader.done()) return chunk.Damaged("a column has another length");
  }
  return {};
}

}  // namespace heapgauge::trace
