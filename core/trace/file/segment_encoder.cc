#include "core/trace/file/segment_encoder.h"

#include <algorithm>
#include <bit>

#include "core/trace/file/segment_columns.h"
#include "core/trace/file/segment_info.h"

namespace heapgauge::trace {
namespace {

// Sums are left out where they would say little more than the events, which readers can add up.
constexpr size_t kEventsPerSum = 4;
constexpr int kMaxShift = 12;
// Memory is asked for so many events ahead.
constexpr size_t kFarAhead = 40;
constexpr size_t kAhead = 20;

}  // namespace

SegmentEncoder::SegmentEncoder(uint32_t segment_events) {
  events_.reserve(segment_events);
  births_.reserve(segment_events / 2 + 1);
}

void SegmentEncoder::Meet(uint32_t stack) {
  if (stack >= places_.size()) {
    places_.resize(std::max<size_t>(size_t{stack} + 1, places_.size() * 2), kNoIndex);
  }
  if (places_[stack] != kNoIndex) return;
  places_[stack] = 0;
  stacks_.push_back(stack);
  highest_stack_ = std::max(highest_stack_, stack);
}

uint32_t SegmentEncoder::MeetThread(uint32_t thread) {
  if (thread != kNoIndex) highest_thread_ = std::max(highest_thread_, thread);
  return thread + 1;
}

uint32_t SegmentEncoder::AddBirth(const Block& block) {
  Meet(block.stack);
  address_bits_ |= block.address;
  last_ns_ = std::max(block.birth_ns, last_ns_);
  births_.push_back({last_ns_, block.address, block.size, block.stack, block.slack, block.function,
                     block.alignment_log2, block.is_mapping});
  return static_cast<uint32_t>(births_.size() - 1);
}

uint32_t SegmentEncoder::AddDeath(const Block& block) {
  last_ns_ = std::max(last_ns_, block.death_ns);
  const uint64_t index = block.number - first_block_;
  if (index < births_.size()) return static_cast<uint32_t>(index);
  Meet(block.stack);
  MeetThread(block.thread);
  address_bits_ |= block.address;
  old_.push_back(block);
  return static_cast<uint32_t>(old_.size() - 1) | kOld;
}

void SegmentEncoder::Allocate(const Block& block) {
  const uint32_t born = AddBirth(block);
  events_.push_back({last_ns_, MeetThread(block.thread), born, kNoIndex, 0});
}

void SegmentEncoder::Free(const Block& block) {
  const uint32_t died = AddDeath(block);
  events_.push_back({last_ns_, MeetThread(block.death_thread), kNoIndex, died, block.distance});
}

void SegmentEncoder::Reallocate(const Block& old, const Block& block) {
  const uint32_t died = AddDeath(old);
  const uint32_t born = AddBirth(block);
  events_.push_back({last_ns_, MeetThread(block.thread), born, died, old.distance});
}

void SegmentEncoder::RankStacks() {
  std::sort(stacks_.begin(), stacks_.end());
  for (uint32_t i = 0; i < stacks_.size(); ++i) places_[stacks_[i]] = i;
}

// Blocks and stacks come in no order that a processor could guess, but we have the list.
void SegmentEncoder::Prefetch(size_t event) const {
  if (event + kFarAhead >= events_.size()) return;
  const uint32_t far = events_[event + kFarAhead].died;
  if (far < births_.size()) {
    __builtin_prefetch(&births_[far]);
    expectation_.live.Prefetch(far);
  }
  const Happening& near = events_[event + kAhead];
  if (near.born != kNoIndex) {
    const uint32_t place = places_[births_[near.born].stack];
    __builtin_prefetch(&expectation_.stacks[place], 1);
    sums_.Prefetch(place);
  }
  if (near.died < births_.size()) sums_.Prefetch(places_[births_[near.died].stack]);
}

void SegmentEncoder::EncodeThread(uint32_t thread, uint8_t* byte) {
  if (thread == thread_) return;
  *byte |= kOtherThread;
  thread_column_.Number(thread == other_thread_ ? 0 : uint64_t{thread} + 1);
  other_thread_ = thread_;
  thread_ = thread;
}

void SegmentEncoder::EncodeOld(const Happening& event, const Block& b) {
  ThreadMemory& thread = expectation_.threads[event.thread];
  old_number_.Difference(b.number, thread.old_number);
  old_birth_.Difference(b.birth_ns, thread.old_birth_ns);
  thread.old_number = b.number;
  thread.old_birth_ns = b.birth_ns;
  old_stack_.Number(places_[b.stack]);
  old_size_.Number(b.size);
  const bool other_thread = b.thread + 1 != event.thread;
  old_flag_.Byte(static_cast<uint8_t>((b.is_mapping ? kOldIsMapping : 0) |
                                      (b.previous != kNoBlock ? kOldHasPrevious : 0) |
                                      (other_thread ? kOldOtherThread : 0)));
  if (b.previous != kNoBlock) old_tail_.Number(b.number - b.previous);
  if (other_thread) old_tail_.Number(uint32_t{b.thread + 1});
  old_distance_.Number(uint32_t{event.distance + 1});
  old_address_column_.Difference(b.address >> shift_, old_address_);
  old_address_ = b.address >> shift_;
  old_detail_.Number(b.slack);
  old_detail_.Byte(b.function);
  old_detail_.Byte(b.alignment_log2);
  expectation_.freed.Push(event.thread, b.size + b.slack, b.address >> shift_);
  sums_.Death(places_[b.stack], b.size, b.is_mapping,
              event.time_ns - std::min(event.time_ns, b.birth_ns), event.distance == 0);
}

uint8_t SegmentEncoder::EncodeDeath(const Happening& event, uint32_t born_before) {
  ++deaths_;
  if ((event.died & kOld) != 0) {
    EncodeOld(event, old_[event.died & ~kOld]);
    return kFreeOld;
  }
  const uint32_t index = event.died;
  const Birth& b = births_[index];
  ThreadMemory& thread = expectation_.threads[event.thread];
  uint8_t kind = kFreeBack;
  if (index == thread.youngest) {
    kind = kFreeLast;
  } else if (index == thread.after) {
    kind = kFreeAfter;
  } else if (index == thread.before) {
    kind = kFreeBefore;
  } else {
    back_.Number(born_before - 1 - index);
  }
  if (expectation_.live.DistanceTo(index, event.thread, thread) != event.distance) {
    distance_.Number(deaths_ - corrected_);
    distance_.Number(uint32_t{event.distance + 1});
    corrected_ = deaths_;
  }
  expectation_.live.Kill(index, expectation_.threads.data(), &thread);
  expectation_.freed.Push(event.thread, b.size + b.slack, b.address >> shift_);
  sums_.Death(places_[b.stack], b.size, b.is_mapping, event.time_ns - b.time_ns,
              event.distance == 0);
  return kind;
}

void SegmentEncoder::EncodeAddress(const Birth& b, uint32_t thread, uint64_t resized_address) {
  const uint64_t address = b.address >> shift_;
  const uint32_t depth = expectation_.freed.Take(thread, b.size + b.slack, address);
  if (depth < FreedAddresses::kDepth) {
    address_.Byte(static_cast<uint8_t>(depth));
    return;
  }
  if (b.address == resized_address) {
    address_.Byte(kSameAddress);
    return;
  }
  const uint64_t region = address >> kRegionBits;
  if (expectation_.regions.Knows(region)) {
    address_.Byte(kKnownRegion | KnownRegions::PlaceOf(region));
  } else {
    address_.Byte(kNewRegion);
    address_tail_.Number(region);
    expectation_.regions.Add(region);
  }
  address_low_.Byte(static_cast<uint8_t>(address));
  address_high_.Byte(static_cast<uint8_t>(address >> 8));
}

uint8_t SegmentEncoder::EncodeBirth(const Happening& event, uint64_t resized_address) {
  const Birth& b = births_[event.born];
  ThreadMemory& thread = expectation_.threads[event.thread];
  const uint32_t place = places_[b.stack];
  uint32_t& expected = expectation_.stacks[thread.stack].next;
  uint8_t byte = 0;
  if (place != expected) {
    byte |= kOtherStack;
    stack_low_.Byte(static_cast<uint8_t>(place));
    if (stacks_.size() > 1 << 8) stack_middle_.Byte(static_cast<uint8_t>(place >> 8));
    if (stacks_.size() > 1 << 16) stack_high_.Byte(static_cast<uint8_t>(place >> 16));
    expected = place;
  }
  thread.stack = place;
  StackMemory& stack = expectation_.stacks[place];
  uint32_t size = b.is_mapping ? kMappingSize : stack.FindSize(b.size);
  if (size >= kRecentSizes) {
    size_.Number(b.size);
    if (!b.is_mapping) stack.AddSize(b.size);
  }
  byte |= static_cast<uint8_t>(size << kSizeShift);

  uint8_t detail = 0;
  if (stack.function != b.function || stack.alignment_log2 != b.alignment_log2) {
    detail |= kOtherFunction;
    detail_tail_.Byte(stack.function = b.function);
    detail_tail_.Byte(stack.alignment_log2 = b.alignment_log2);
  }
  uint16_t& slack = expectation_.slack.Of(b.size);
  if (slack != b.slack) {
    detail |= kOtherSlack;
    detail_tail_.Number(slack = b.slack);
  }
  detail_.Byte(detail);
  EncodeAddress(b, event.thread, resized_address);
  expectation_.live.Bear(event.born, event.thread, &thread);
  sums_.Birth(place, b.size, b.is_mapping);
  return byte;
}

// Also finds the live totals.
void SegmentEncoder::EncodeEvents(SegmentInfo* info) {
  uint64_t last_ns = 0;
  uint32_t born_before = 0;
  uint64_t bytes = live_bytes_;
  uint64_t blocks = live_blocks_;
  info->live_bytes_before = bytes;
  info->live_blocks_before = blocks;
  for (uint32_t i = 0; i < events_.size(); ++i) {
    Prefetch(i);
    const Happening& event = events_[i];
    uint8_t byte = kAllocation;
    EncodeThread(event.thread, &byte);
    time_.Number(event.time_ns - last_ns);
    last_ns = event.time_ns;
    uint64_t resized_address = 0;
    if (event.died != kNoIndex) {
      const uint8_t kind = EncodeDeath(event, born_before);
      const bool old = kind == kFreeOld;
      const uint64_t size = old ? old_[event.died & ~kOld].size : births_[event.died].size;
      const bool mapping =
          old ? old_[event.died & ~kOld].is_mapping : births_[event.died].is_mapping;
      if (!mapping) {
        bytes -= std::min(bytes, size);
        blocks -= std::min<uint64_t>(blocks, 1);
      }
      byte |= event.born == kNoIndex ? kind : uint8_t{kResize};
      if (event.born != kNoIndex) {
        resized_.Byte(kind);
        resized_address = old ? old_[event.died & ~kOld].address : births_[event.died].address;
      }
    }
    if (event.born != kNoIndex) {
      byte |= EncodeBirth(event, resized_address);
      ++born_before;
      if (!births_[event.born].is_mapping) {
        bytes += births_[event.born].size;
        ++blocks;
      }
    }
    event_column_.Byte(byte);
    if (bytes > info->peak_bytes || i == 0) {
      info->peak_bytes = bytes;
      info->peak_event = i;
      info->peak_ns = event.time_ns;
    }
  }
  info->live_bytes_after = bytes;
  info->live_blocks_after = blocks;
}

void SegmentEncoder::AddColumns(const SegmentInfo& info, ChunkMaker* chunk) {
  ColumnWriter info_column;
  EncodeInfo(info, &info_column);
  chunk->Add(kInfoColumn, info_column.bytes(), false);
  ColumnWriter stack_list;
  uint32_t last = 0;
  for (const uint32_t stack : stacks_) {
    stack_list.Number(stack - last);
    last = stack;
  }
  chunk->Add(kStackListColumn, stack_list.bytes());
  const std::vector<StackSums>& sums = sums_.Finish();
  if (sums.size() * kEventsPerSum <= events_.size()) {
    EncodeSums(sums, &sum_columns_);
    chunk->Add(kSumCountColumn, sum_columns_.counts.bytes());
    chunk->Add(kSumByteColumn, sum_columns_.bytes.bytes());
    chunk->Add(kSumLifetimeColumn, sum_columns_.lifetimes.bytes());
  }
  sum_columns_.counts.Clear();
  sum_columns_.bytes.Clear();
  sum_columns_.lifetimes.Clear();
  ColumnWriter* const time[] = {&time_.head(), &time_.tail()};
  ColumnWriter* const back[] = {&back_.head(), &back_.tail()};
  const std::pair<SegmentColumn, ColumnWriter*> columns[] = {
      {kEventColumn, &event_column_},
      {kTimeColumn, time[0]},
      {kTimeTailColumn, time[1]},
      {kThreadColumn, &thread_column_},
      {kResizedColumn, &resized_},
      {kBackColumn, back[0]},
      {kBackTailColumn, back[1]},
      {kStackLowColumn, &stack_low_},
      {kStackMiddleColumn, &stack_middle_},
      {kStackHighColumn, &stack_high_},
      {kSizeColumn, &size_},
      {kDistanceColumn, &distance_},
      {kDetailColumn, &detail_},
      {kDetailTailColumn, &detail_tail_},
      {kAddressColumn, &address_},
      {kAddressLowColumn, &address_low_},
      {kAddressHighColumn, &address_high_},
      {kAddressTailColumn, &address_tail_},
      {kOldNumberColumn, &old_number_},
      {kOldBirthColumn, &old_birth_},
      {kOldStackColumn, &old_stack_},
      {kOldSizeColumn, &old_size_},
      {kOldFlagColumn, &old_flag_},
      {kOldTailColumn, &old_tail_},
      {kOldDistanceColumn, &old_distance_},
      {kOldAddressColumn, &old_address_column_},
      {kOldDetailColumn, &old_detail_},
  };
  for (const auto& [id, column] : columns) {
    chunk->Add(id, column->bytes());
    column->Clear();
  }
}

void SegmentEncoder::BeginNext(const SegmentInfo& info) {
  first_event_ += events_.size();
  first_block_ += births_.size();
  live_bytes_ = info.live_bytes_after;
  live_blocks_ = info.live_blocks_after;
  for (const uint32_t stack : stacks_) places_[stack] = kNoIndex;
  stacks_.clear();
  old_.clear();
  births_.clear();
  events_.clear();
  address_bits_ = 0;
}

std::span<const uint8_t> SegmentEncoder::Encode(ChunkMaker* chunk, SegmentInfo* info) {
  *info = {};
  RankStacks();
  expectation_.Begin(stacks_.size(), size_t{highest_thread_} + 1, births_.size());
  sums_.Begin(stacks_);
  shift_ = address_bits_ == 0 ? 0 : std::min(std::countr_zero(address_bits_), kMaxShift);
  address_tail_.Number(static_cast<uint64_t>(shift_));
  thread_ = other_thread_ = 0;
  old_address_ = 0;
  deaths_ = corrected_ = 0;
  EncodeEvents(info);

  info->first_event = first_event_;
  info->first_block = first_block_;
  info->events = static_cast<uint32_t>(events_.size());
  info->births = static_cast<uint32_t>(births_.size());
  info->deaths = deaths_;
  info->old_deaths = static_cast<uint32_t>(old_.size());
  for (const Block& block : old_) info->oldest_birth = std::min(info->oldest_birth, block.number);
  if (!events_.empty()) {
    info->begin_ns = events_.front().time_ns;
    info->end_ns = events_.back().time_ns;
  }
  chunk->Begin(ChunkType::kSegment);
  AddColumns(*info, chunk);
  const std::span<const uint8_t> bytes = chunk->Finish();
  info->bytes = bytes.size();
  BeginNext(*info);
  return bytes;
}

}  // namespace heapgauge::trace
