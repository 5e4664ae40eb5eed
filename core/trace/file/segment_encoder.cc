#include "core/trace/file/segment_encoder.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/trace/file/segment_columns.h"
#include "core/trace/file/segment_info.h"

namespace heapgauge::trace {
namespace {

// Sums are left out where they would say little more than the events, which readers can add up.
constexpr size_t kEventsPerSum = 4;

// As index + 1; 0 unknown.
uint32_t ThreadNumber(uint32_t thread) { return thread < kMaxThreads ? thread + 1 : 0; }

}  // namespace

SegmentEncoder::SegmentEncoder() { BeginSegment(); }

uint32_t SegmentEncoder::PlaceOf(uint32_t stack) {
  if (stack >= kMaxStacks) stack = 0;
  if (stack >= places_.size()) {
    places_.resize(std::max<size_t>(size_t{stack} + 1, places_.size() * 2), kNoIndex);
  }
  uint32_t& place = places_[stack];
  if (place == kNoIndex) {
    place = static_cast<uint32_t>(stacks_.size());
    stacks_.push_back(stack);
    sums_.AddStack(stack);
    expectation_.stacks.emplace_back();
    highest_stack_ = std::max(highest_stack_, stack);
  } else {
    __builtin_prefetch(&expectation_.stacks[place], 1);
    sums_.Prefetch(place);
  }
  return place;
}

SegmentEncoder::Waiting* SegmentEncoder::Add(uint64_t time_ns, uint32_t thread) {
  if (thread < kMaxThreads && thread > highest_thread_) highest_thread_ = thread;
  ++events_;
  Waiting* event = &waiting_[added_++ % kWaiting];
  event->time_ns = last_ns_ = std::max(time_ns, last_ns_);
  event->thread = ThreadNumber(thread);
  event->is_birth = event->is_death = false;
  return event;
}

void SegmentEncoder::AddBirth(const Block& block, Waiting* event) {
  event->is_birth = true;
  event->born = block;
  event->born_place = PlaceOf(block.stack);
}

void SegmentEncoder::AddDeath(const Block& block, Waiting* event) {
  event->is_death = true;
  event->died = block;
  event->died_place = PlaceOf(block.stack);
  if (block.thread < kMaxThreads && block.thread > highest_thread_) highest_thread_ = block.thread;
  // Kept apart by number alone: what is not of this segment is old.
  const uint64_t index = block.number - info_.first_block;
  if (index < info_.births) expectation_.live.Prefetch(static_cast<uint32_t>(index));
}

void SegmentEncoder::MakeProgress() {
  if (added_ - encoded_ > kDelay) EncodeEvent(waiting_[encoded_++ % kWaiting]);
}

void SegmentEncoder::Allocate(const Block& block) {
  AddBirth(block, Add(block.birth_ns, block.thread));
  MakeProgress();
}

void SegmentEncoder::Free(const Block& block) {
  AddDeath(block, Add(block.death_ns, block.death_thread));
  MakeProgress();
}

void SegmentEncoder::Reallocate(const Block& old, const Block& block) {
  Waiting* event = Add(block.birth_ns, block.thread);
  AddDeath(old, event);
  AddBirth(block, event);
  MakeProgress();
}

void SegmentEncoder::EncodeThread(uint32_t thread, uint8_t* byte) {
  if (thread == thread_) return;
  *byte |= kOtherThread;
  thread_column_.Number(thread == other_thread_ ? 0 : uint64_t{thread} + 1);
  other_thread_ = thread_;
  thread_ = thread;
}

void SegmentEncoder::EncodeOld(const Waiting& event) {
  const Block& b = event.died;
  ThreadMemory& thread = expectation_.threads[event.thread];
  // Damage by a caller that loses count must not become a file that cannot be read.
  const uint64_t number = info_.first_block == 0 ? 0 : std::min(b.number, info_.first_block - 1);
  const uint64_t birth_ns = std::min(b.birth_ns, event.time_ns);
  old_number_.Difference(number, thread.old_number);
  old_birth_.Difference(birth_ns, thread.old_birth_ns);
  thread.old_number = number;
  thread.old_birth_ns = birth_ns;
  old_stack_.Number(event.died_place);
  old_size_.Number(b.size);
  const bool other_thread = ThreadNumber(b.thread) != event.thread;
  const bool has_previous = b.previous < number;
  old_flag_.Byte(static_cast<uint8_t>((b.is_mapping ? kOldIsMapping : 0) |
                                      (has_previous ? kOldHasPrevious : 0) |
                                      (other_thread ? kOldOtherThread : 0)));
  if (has_previous) old_tail_.Number(number - b.previous);
  if (other_thread) old_tail_.Number(ThreadNumber(b.thread));
  old_distance_.Number(uint32_t{b.distance + 1});
  const uint64_t units = ToUnits(b.address);
  old_address_column_.Difference(units, old_address_);
  old_address_ = units;
  old_detail_.Number(b.slack);
  old_detail_.Byte(b.function);
  old_detail_.Byte(b.alignment_log2);
  ++info_.old_deaths;
  info_.oldest_birth = std::min(info_.oldest_birth, number);
}

uint8_t SegmentEncoder::EncodeDeath(const Waiting& event) {
  const Block& b = event.died;
  ++info_.deaths;
  if (!b.is_mapping) {
    info_.live_bytes_after -= std::min(info_.live_bytes_after, b.size);
    info_.live_blocks_after -= std::min<uint64_t>(info_.live_blocks_after, 1);
  }
  sums_.Death(event.died_place, b.size, b.is_mapping,
              event.time_ns - std::min(event.time_ns, b.birth_ns), b.distance == 0);
  expectation_.freed.Push(event.thread, b.size + b.slack, b.address);
  const uint64_t place = b.number - info_.first_block;
  if (place >= info_.births || !expectation_.live.IsLive(static_cast<uint32_t>(place))) {
    EncodeOld(event);
    return kFreeOld;
  }
  const auto index = static_cast<uint32_t>(place);
  ThreadMemory& thread = expectation_.threads[event.thread];
  uint8_t kind = kFreeBack;
  if (index == thread.youngest) {
    kind = kFreeLast;
  } else if (index == thread.after) {
    kind = kFreeAfter;
  } else if (index == thread.before) {
    kind = kFreeBefore;
  } else {
    back_.Number(info_.births - 1 - index);
  }
  if (expectation_.live.DistanceTo(index, event.thread, thread) != b.distance) {
    distance_.Number(info_.deaths - corrected_);
    distance_.Number(uint32_t{b.distance + 1});
    corrected_ = info_.deaths;
  }
  expectation_.live.Kill(index, expectation_.threads.data(), &thread);
  return kind;
}

void SegmentEncoder::EncodeAddress(const Waiting& event) {
  const Block& b = event.born;
  const uint32_t depth = expectation_.freed.Take(event.thread, b.size + b.slack, b.address);
  if (depth < FreedAddresses::kDepth) {
    address_.Byte(static_cast<uint8_t>(depth));
    return;
  }
  if (event.is_death && b.address == event.died.address) {
    address_.Byte(kSameAddress);
    return;
  }
  const uint64_t units = ToUnits(b.address);
  const uint64_t region = units >> kRegionBits;
  if (expectation_.regions.Knows(region)) {
    address_.Byte(kKnownRegion | KnownRegions::PlaceOf(region));
  } else {
    address_.Byte(kNewRegion);
    address_tail_.Number(region);
    expectation_.regions.Add(region);
  }
  address_low_.Byte(static_cast<uint8_t>(units));
  address_high_.Byte(static_cast<uint8_t>(units >> 8));
}

uint8_t SegmentEncoder::EncodeBirth(const Waiting& event) {
  const Block& b = event.born;
  const uint32_t place = event.born_place;
  ThreadMemory& thread = expectation_.threads[event.thread];
  uint32_t& expected = expectation_.stacks[thread.stack].next;
  uint8_t byte = 0;
  if (place != expected) {
    byte |= kOtherStack;
    stack_low_.Byte(static_cast<uint8_t>(place));
    stack_middle_.Byte(static_cast<uint8_t>(place >> 8));
    stack_high_.Byte(static_cast<uint8_t>(place >> 16));
    expected = place;
  }
  thread.stack = place;
  StackMemory& stack = expectation_.stacks[place];
  const uint32_t size = b.is_mapping ? kMappingSize : stack.FindSize(b.size);
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
  EncodeAddress(event);
  expectation_.live.Reserve(size_t{info_.births} + 1);
  expectation_.live.Bear(info_.births++, event.thread, &thread);
  sums_.Birth(place, b.size, b.is_mapping);
  if (!b.is_mapping) {
    info_.live_bytes_after += b.size;
    ++info_.live_blocks_after;
  }
  return byte;
}

void SegmentEncoder::EncodeEvent(const Waiting& event) {
  if (event.thread >= expectation_.threads.size()) {
    expectation_.threads.resize(std::max<size_t>(event.thread, highest_thread_) + 2);
  }
  uint8_t byte = kAllocation;
  EncodeThread(event.thread, &byte);
  time_.Number(event.time_ns - encoded_ns_);
  encoded_ns_ = event.time_ns;
  if (event.is_death) {
    const uint8_t kind = EncodeDeath(event);
    byte |= event.is_birth ? uint8_t{kResize} : kind;
    if (event.is_birth) resized_.Byte(kind);
  }
  if (event.is_birth) byte |= EncodeBirth(event);
  event_column_.Byte(byte);
  if (info_.events == 0) info_.begin_ns = event.time_ns;
  info_.end_ns = event.time_ns;
  if (info_.live_bytes_after > info_.peak_bytes || info_.events == 0) {
    info_.peak_bytes = info_.live_bytes_after;
    info_.peak_event = info_.events;
    info_.peak_ns = event.time_ns;
  }
  ++info_.events;
}

// The list of stacks, and the sums in its order.
void SegmentEncoder::EncodeStacks(ChunkMaker* chunk) {
  std::vector<uint32_t> sorted(stacks_.size());  // places
  std::iota(sorted.begin(), sorted.end(), 0U);
  std::sort(sorted.begin(), sorted.end(),
            [&](uint32_t a, uint32_t b) { return stacks_[a] < stacks_[b]; });
  ColumnWriter list;
  std::vector<uint32_t> ranks(stacks_.size());
  uint32_t last = 0;
  for (uint32_t i = 0; i < sorted.size(); ++i) {
    const uint32_t stack = stacks_[sorted[i]];
    list.Number(stack - last);
    last = stack;
    ranks[sorted[i]] = i;
  }
  ColumnWriter order;
  for (const uint32_t rank : ranks) order.Little(rank, BytesOfPlaces(ranks.size()));
  chunk->Add(kStackListColumn, list.bytes());
  chunk->Add(kStackOrderColumn, order.bytes());
  const std::vector<StackSums>& sums = sums_.Finish(sorted);
  if (sums.size() * kEventsPerSum <= info_.events) {
    EncodeSums(sums, &sum_columns_);
    chunk->Add(kSumCountColumn, sum_columns_.counts.bytes());
    chunk->Add(kSumByteColumn, sum_columns_.bytes.bytes());
    chunk->Add(kSumLifetimeColumn, sum_columns_.lifetimes.bytes());
  }
  sum_columns_.counts.Clear();
  sum_columns_.bytes.Clear();
  sum_columns_.lifetimes.Clear();
}

void SegmentEncoder::AddColumns(ChunkMaker* chunk) {
  ColumnWriter info;
  EncodeInfo(info_, &info);
  chunk->Add(kInfoColumn, info.bytes(), false);
  EncodeStacks(chunk);
  if (BytesOfPlaces(stacks_.size()) < 3) stack_high_.Clear();
  if (BytesOfPlaces(stacks_.size()) < 2) stack_middle_.Clear();
  const std::pair<SegmentColumn, ColumnWriter*> columns[] = {
      {kEventColumn, &event_column_},
      {kTimeColumn, &time_.head()},
      {kTimeTailColumn, &time_.tail()},
      {kThreadColumn, &thread_column_},
      {kResizedColumn, &resized_},
      {kBackColumn, &back_.head()},
      {kBackTailColumn, &back_.tail()},
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

// Goes on where the last segment ended.
void SegmentEncoder::BeginSegment() {
  SegmentInfo next;
  next.first_event = info_.first_event + info_.events;
  next.first_block = info_.first_block + info_.births;
  next.live_bytes_before = next.live_bytes_after = info_.live_bytes_after;
  next.live_blocks_before = next.live_blocks_after = info_.live_blocks_after;
  info_ = next;
  events_ = 0;
  for (const uint32_t stack : stacks_) places_[stack] = kNoIndex;
  stacks_.clear();
  sums_.Begin();
  expectation_.Begin(0, size_t{highest_thread_} + 2, 0);
  expectation_.BeginDetails();
  encoded_ns_ = 0;
  thread_ = other_thread_ = 0;
  old_address_ = 0;
  corrected_ = 0;
}

std::span<const uint8_t> SegmentEncoder::Encode(ChunkMaker* chunk, SegmentInfo* info) {
  while (encoded_ != added_) EncodeEvent(waiting_[encoded_++ % kWaiting]);
  chunk->Begin(ChunkType::kSegment);
  AddColumns(chunk);
  const std::span<const uint8_t> bytes = chunk->Finish();
  *info = info_;
  info->bytes = bytes.size();
  BeginSegment();
  return bytes;
}

}  // namespace heapgauge::trace
