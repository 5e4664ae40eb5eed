#include "core/trace/file/segment_encoder.h"

#include <algorithm>

#include "core/trace/file/segment_columns.h"
#include "core/trace/file/segment_decoder.h"
#include "core/trace/file/sums_codec.h"

namespace heapgauge::trace {
namespace {

class SumsMaker {
 public:
  explicit SumsMaker(uint32_t highest_stack) : rows_((size_t{highest_stack} + 1) * 2, kNoIndex) {}

  void Birth(const Block& block) {
    StackSums& s = Of(block);
    ++s.allocated_blocks;
    s.allocated_bytes += block.size;
  }
  void Death(const Block& block) {
    StackSums& s = Of(block);
    ++s.freed_blocks;
    s.freed_bytes += block.size;
    if (block.distance == 0) {
      ++s.temporary_blocks;
      s.temporary_bytes += block.size;
    }
    s.lifetime_byte_ns +=
        static_cast<double>(block.size) * static_cast<double>(block.lifetime_ns(block.death_ns));
  }
  std::vector<StackSums>& Finish() {
    std::sort(sums_.begin(), sums_.end(), [](const StackSums& a, const StackSums& b) {
      return a.stack != b.stack ? a.stack < b.stack : a.is_mapping < b.is_mapping;
    });
    return sums_;
  }

 private:
  StackSums& Of(const Block& block) {
    uint32_t& row = rows_[size_t{block.stack} * 2 + (block.is_mapping ? 1 : 0)];
    if (row == kNoIndex) {
      row = static_cast<uint32_t>(sums_.size());
      sums_.push_back({});
      sums_.back().stack = block.stack;
      sums_.back().is_mapping = block.is_mapping;
    }
    return sums_[row];
  }

  std::vector<uint32_t> rows_;
  std::vector<StackSums> sums_;
};

}  // namespace

uint32_t SegmentEncoder::AddBirth(const Block& block) {
  highest_stack_ = std::max(highest_stack_, block.stack);
  if (block.thread != kNoIndex) highest_thread_ = std::max(highest_thread_, block.thread);
  new_.push_back(block);
  Block& kept = new_.back();
  kept.number = first_block_ + new_.size() - 1;
  last_ns_ = kept.birth_ns = std::max(block.birth_ns, last_ns_);
  kept.death_ns = kNever;
  kept.previous = kNoBlock;
  return static_cast<uint32_t>(new_.size() - 1);
}

uint32_t SegmentEncoder::AddDeath(const Block& block, bool resized_away) {
  highest_stack_ = std::max(highest_stack_, block.stack);
  for (const uint32_t thread : {block.thread, block.death_thread}) {
    if (thread != kNoIndex) highest_thread_ = std::max(highest_thread_, thread);
  }
  last_ns_ = std::max(last_ns_, block.death_ns);
  const bool is_new = block.number - first_block_ < new_.size();
  if (!is_new) old_.push_back(block);
  Block& kept = is_new ? new_[block.number - first_block_] : old_.back();
  kept.death_ns = last_ns_;
  kept.death_thread = block.death_thread;
  kept.distance = block.distance;
  kept.resized_away = resized_away;
  return is_new ? static_cast<uint32_t>(block.number - first_block_)
                : static_cast<uint32_t>(old_.size() - 1) | kOld;
}

void SegmentEncoder::Allocate(const Block& block) {
  const uint32_t born = AddBirth(block);
  events_.push_back({last_ns_, born, kNoIndex});
}

void SegmentEncoder::Free(const Block& block) {
  const uint32_t died = AddDeath(block, false);
  events_.push_back({last_ns_, kNoIndex, died});
}

void SegmentEncoder::Reallocate(const Block& old, const Block& block) {
  const uint32_t died = AddDeath(old, true);
  const uint32_t born = AddBirth(block);
  new_[born].previous = old.number;
  events_.push_back({last_ns_, born, died});
}

void SegmentEncoder::Fill(SegmentInfo* info) const {
  info->first_event = first_event_;
  info->first_block = first_block_;
  info->events = static_cast<uint32_t>(events_.size());
  info->births = static_cast<uint32_t>(new_.size());
  info->old_deaths = static_cast<uint32_t>(old_.size());
  for (const Block& block : old_) {
    info->oldest_birth = std::min(info->oldest_birth, block.number);
  }
  if (!events_.empty()) {
    info->begin_ns = events_.front().time_ns;
    info->end_ns = events_.back().time_ns;
  }
  info->live_bytes_before = live_bytes_;
  info->live_blocks_before = live_blocks_;
  uint64_t bytes = live_bytes_;
  uint64_t blocks = live_blocks_;
  for (uint32_t i = 0; i < events_.size(); ++i) {
    const Happening& event = events_[i];
    if (event.died != kNoIndex) {
      ++info->deaths;
      const Block& block = (event.died & kOld) != 0 ? old_[event.died & ~kOld] : new_[event.died];
      if (!block.is_mapping) {
        bytes -= std::min(bytes, block.size);
        blocks -= std::min<uint64_t>(blocks, 1);
      }
    }
    if (event.born != kNoIndex && !new_[event.born].is_mapping) {
      bytes += new_[event.born].size;
      ++blocks;
    }
    if (bytes > info->peak_bytes || i == 0) {
      info->peak_bytes = bytes;
      info->peak_event = i;
      info->peak_ns = event.time_ns;
    }
  }
  info->live_bytes_after = bytes;
  info->live_blocks_after = blocks;
}

std::span<const uint8_t> SegmentEncoder::Encode(ChunkMaker* chunk, SegmentInfo* info) {
  *info = {};
  Fill(info);
  ColumnWriter kinds, times, births, deaths, olds, addresses, old_addresses, details, old_details;
  SumsMaker sums(highest_stack_);
  uint64_t last_ns = 0;
  const auto put_details = [](const Block& b, ColumnWriter* out) {
    out->Number(b.slack);
    out->Byte(b.function);
    out->Byte(b.alignment_log2);
  };
  for (const Happening& event : events_) {
    const bool born = event.born != kNoIndex;
    const bool died = event.died != kNoIndex;
    const bool old = died && (event.died & kOld) != 0;
    kinds.Byte(static_cast<uint8_t>((born ? 1 : 0) | (died ? 2 : 0) | (old ? 4 : 0)));
    times.Number(event.time_ns - last_ns);
    last_ns = event.time_ns;
    if (born) {
      const Block& b = new_[event.born];
      births.Number(b.stack);
      births.Number(uint32_t{b.thread + 1});
      births.Number(b.size);
      births.Byte(b.is_mapping ? 1 : 0);
      addresses.Number(b.address);
      put_details(b, &details);
      sums.Birth(b);
    }
    if (died) {
      const Block& b = old ? old_[event.died & ~kOld] : new_[event.died];
      deaths.Number(old ? 0 : event.died);
      deaths.Number(uint32_t{b.death_thread + 1});
      deaths.Number(uint32_t{b.distance + 1});
      sums.Death(b);
    }
    if (old) {
      const Block& b = old_[event.died & ~kOld];
      olds.Number(b.number);
      olds.Number(b.birth_ns);
      olds.Number(b.stack);
      olds.Number(uint32_t{b.thread + 1});
      olds.Number(b.size);
      olds.Byte(b.is_mapping ? 1 : 0);
      olds.Number(b.previous + 1);
      old_addresses.Number(b.address);
      put_details(b, &old_details);
    }
  }
  ColumnWriter info_column;
  ColumnWriter sums_column;
  EncodeInfo(*info, &info_column);
  EncodeSums(sums.Finish(), &sums_column);
  chunk->Begin(ChunkType::kSegment);
  chunk->Add(kInfoColumn, info_column.bytes(), false);
  chunk->Add(kSumsColumn, sums_column.bytes());
  chunk->Add(kKindColumn, kinds.bytes());
  chunk->Add(kTimeColumn, times.bytes());
  chunk->Add(kBirthColumn, births.bytes());
  chunk->Add(kDeathColumn, deaths.bytes());
  chunk->Add(kOldColumn, olds.bytes());
  chunk->Add(kAddressColumn, addresses.bytes());
  chunk->Add(kOldAddressColumn, old_addresses.bytes());
  chunk->Add(kDetailColumn, details.bytes());
  chunk->Add(kOldDetailColumn, old_details.bytes());
  const std::span<const uint8_t> bytes = chunk->Finish();
  info->bytes = bytes.size();

  first_event_ += events_.size();
  first_block_ += new_.size();
  live_bytes_ = info->live_bytes_after;
  live_blocks_ = info->live_blocks_after;
  old_.clear();
  new_.clear();
  events_.clear();
  return bytes;
}

}  // namespace heapgauge::trace
