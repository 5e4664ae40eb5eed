#include "core/trace/record/segment_encoder.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "core/trace/file/file_index.h"
#include "core/trace/file/segment_columns.h"

namespace heapgauge::trace {
namespace {

// Sums are left out where they would say little more than the events, which readers can add up.
constexpr size_t kEventsPerSum = 4;

// Columns are made larger for so many events at a time, each of which takes no more in any of them
// than this.
constexpr uint32_t kRoomEvents = 1024;
constexpr size_t kMostBytes = 3 * ColumnWriter::kMaxNumberBytes;

// What there is room for from the start: it takes addresses, but no memory before it is used, and
// to make it larger later would be to copy it into pages that the kernel must find.
constexpr size_t kFirstRows = 1 << 16;
constexpr size_t kFirstBirths = 1 << 19;

constexpr uint64_t kLarge = uint64_t{1} << 32;
// Nobody needs to ask for fewer.
constexpr size_t kRowsInCache = 2048;
// Where a segment has fewer of the trace's stacks than one in so many, it is quicker to sort them
// than to look at all.
constexpr size_t kFewOfAll = 64;

// As index + 1; 0 unknown.
uint32_t ThreadNumber(uint32_t thread) { return thread < kMaxThreads ? thread + 1 : 0; }

}  // namespace

SegmentEncoder::SegmentEncoder() {
  rows_.reserve(kFirstRows);
  expectation_.born.Reserve(kFirstBirths);
  BeginSegment();
}

uint32_t SegmentEncoder::PlaceOf(uint32_t stack) {
  if (stack < places_.size() && places_[stack] != kNoIndex) [[likely]]
    return places_[stack];
  return AddStack(stack);
}

uint32_t SegmentEncoder::AddStack(uint32_t stack) {
  if (stack >= kMaxStacks) stack = 0;
  if (stack >= places_.size()) {
    places_.resize(std::max<size_t>(size_t{stack} + 1, places_.size() * 2), kNoIndex);
  }
  uint32_t& place = places_[stack];
  if (place != kNoIndex) return place;
  place = static_cast<uint32_t>(stacks_.size());
  stacks_.push_back(stack);
  rows_.emplace_back();
  highest_stack_ = std::max(highest_stack_, stack);
  return place;
}

bool SegmentEncoder::Expect(std::span<const uint32_t> stacks) const {
  if (rows_.size() < kRowsInCache) return false;
  for (const uint32_t stack : stacks) {
    if (stack >= places_.size() || places_[stack] >= rows_.size()) continue;
    // Loaded, not prefetched: of so many at once a processor drops prefetches that it has no room
    // for, and loads it does in any order all the same.
    const uint64_t touched = rows_[places_[stack]].memory.shapes;
    __asm__ volatile("" : : "r"(touched));
  }
  return true;
}

Tally& SegmentEncoder::TallyOf(uint32_t place, bool is_mapping) {
  if (!is_mapping) [[likely]]
    return rows_[place].heap;
  if (place >= mappings_.size()) mappings_.resize(rows_.size());
  return mappings_[place];
}

void SegmentEncoder::Born(const Birth& block) {
  const Moment moment = BeginEvent(block.birth_ns, block.thread);
  EndEvent(moment.byte | EncodeBirth(kAllocation, block, moment, nullptr));
}

void SegmentEncoder::Died(const Birth& block, const Death& death) {
  const Moment moment = BeginEvent(death.time_ns, death.thread);
  EndEvent(moment.byte | EncodeDeath(block, death, moment));
}

void SegmentEncoder::Resized(const Birth& old, const Death& death, const Birth& block) {
  const Moment moment = BeginEvent(block.birth_ns, block.thread);
  resized_.PutByte(EncodeDeath(old, death, moment));
  EndEvent(moment.byte | EncodeBirth(kResize, block, moment, &old));
}

SegmentEncoder::Moment SegmentEncoder::BeginEvent(uint64_t time_ns, uint32_t thread) {
  last_ns_ = std::max(time_ns, last_ns_);
  if (room_ == 0) [[unlikely]]
    MakeRoom(last_ns_);
  --room_;
  time_.Put(last_ns_ - encoded_ns_);
  encoded_ns_ = last_ns_;
  const uint32_t number = ThreadNumber(thread);
  uint8_t byte = 0;
  if (number != thread_) {
    ChangeThread(number);
    byte = kOtherThread;
  }
  return {last_ns_, number, byte, &expectation_.threads[number]};
}

void SegmentEncoder::EndEvent(uint8_t byte) {
  event_.PutByte(byte);
  if (info_.live_bytes_after > info_.peak_bytes) {
    info_.peak_bytes = info_.live_bytes_after;
    info_.peak_event = info_.events;
    info_.peak_ns = encoded_ns_;
  }
  ++info_.events;
}

void SegmentEncoder::ChangeThread(uint32_t thread) {
  if (thread >= expectation_.threads.size()) {
    highest_thread_ = std::max(highest_thread_, thread - 1);
    expectation_.threads.resize(size_t{highest_thread_} + 2);
  }
  thread_column_.PutNumber(thread == other_thread_ ? 0 : uint64_t{thread} + 1);
  other_thread_ = thread_;
  thread_ = thread;
}

void SegmentEncoder::EncodeOld(const Birth& b, const Death& death, uint32_t place,
                               const Moment& moment) {
  ThreadMemory& thread = *moment.memory;
  // Damage by a caller that loses count must not become a file that cannot be read.
  const uint64_t number = info_.first_block == 0 ? 0 : std::min(b.number, info_.first_block - 1);
  const uint64_t birth_ns = std::min(b.birth_ns, moment.time_ns);
  old_number_.PutDifference(number, thread.old_number);
  old_birth_.PutDifference(birth_ns, thread.old_birth_ns);
  thread.old_number = number;
  thread.old_birth_ns = birth_ns;
  old_stack_.PutNumber(place);
  old_size_.PutNumber(b.size);
  const uint32_t owner = ThreadNumber(b.thread);
  const bool has_previous = b.previous < number;
  old_flag_.PutByte(static_cast<uint8_t>((b.is_mapping ? kOldIsMapping : 0) |
                                         (has_previous ? kOldHasPrevious : 0) |
                                         (owner != moment.thread ? kOldOtherThread : 0)));
  if (has_previous) old_tail_.PutNumber(number - b.previous);
  if (owner != moment.thread) {
    old_tail_.PutNumber(owner);
    if (owner != 0) highest_thread_ = std::max(highest_thread_, owner - 1);
  }
  old_distance_.PutNumber(uint32_t{death.distance + 1});
  const uint64_t units = ToUnits(b.address);
  old_address_column_.PutDifference(units, old_address_);
  old_address_ = units;
  old_detail_.PutNumber(b.slack);
  old_detail_.PutByte(b.function);
  old_detail_.PutByte(b.alignment_log2);
  ++info_.old_deaths;
  info_.oldest_birth = std::min(info_.oldest_birth, number);
}

uint8_t SegmentEncoder::EncodeDeath(const Birth& b, const Death& death, const Moment& moment) {
  ++info_.deaths;
  if (!b.is_mapping) {
    info_.live_bytes_after -= std::min(info_.live_bytes_after, b.size);
    ++heap_deaths_;
  }
  const uint32_t place = PlaceOf(b.stack);
  TallyOf(place, b.is_mapping)
      .AddDeath(b.size, moment.time_ns - std::min(moment.time_ns, b.birth_ns), death.distance == 0);
  expectation_.freed.Push(moment.thread, b.size + b.slack, b.address);
  // Kept apart by number alone: what is not of this segment is old.
  const uint64_t index64 = b.number - info_.first_block;
  const auto index = static_cast<uint32_t>(index64);
  if (index64 >= info_.births || !expectation_.born.IsLive(index)) {
    EncodeOld(b, death, place, moment);
    return kFreeOld;
  }
  ThreadMemory& thread = *moment.memory;
  const bool last = index == thread.youngest;
  if (!last) step_.Put(ZigZag(index64 - thread.freed));
  // Threads without a number are one and the same.
  const bool is_own = b.thread == death.thread || ThreadNumber(b.thread) == moment.thread;
  const uint32_t distance = is_own ? expectation_.born.DistanceTo(index, thread) : kForeign;
  if (distance != death.distance) [[unlikely]] {
    distance_.PutNumber(info_.deaths - corrected_);
    distance_.PutNumber(uint32_t{death.distance + 1});
    corrected_ = info_.deaths;
  }
  expectation_.born.Kill(index, &thread);
  return last ? kFreeLast : kFreeStep;
}

void SegmentEncoder::TellAddress(const Birth& b, const Birth* old) {
  if (old != nullptr && b.address == old->address) {
    address_.PutByte(kSameAddress);
    return;
  }
  const uint64_t units = ToUnits(b.address);
  const uint64_t region = units >> kRegionBits;
  if (expectation_.regions.Knows(region)) {
    address_.PutByte(kKnownRegion | KnownRegions::PlaceOf(region));
  } else {
    address_.PutByte(kNewRegion);
    address_tail_.PutNumber(region);
    expectation_.regions.Add(region);
  }
  address_low_.PutByte(static_cast<uint8_t>(units));
  address_high_.PutByte(static_cast<uint8_t>(units >> 8));
}

uint8_t SegmentEncoder::EncodeStack(uint32_t place, ThreadMemory* thread) {
  uint32_t& expected = rows_[thread->stack].memory.next;
  thread->stack = place;
  if (place == expected) return 0;
  expected = place;
  stack_low_.PutByte(static_cast<uint8_t>(place));
  stack_middle_.PutByte(static_cast<uint8_t>(place >> 8));
  stack_high_.PutByte(static_cast<uint8_t>(place >> 16));
  return kOtherStack;
}

void SegmentEncoder::TellShape(const Birth& b) {
  new_shape_.PutNumber(b.size);
  new_shape_.PutNumber(b.slack);
  new_shape_.PutByte(b.function);
  new_shape_.PutByte(b.alignment_log2);
}

// The mapping that was born last.
void SegmentEncoder::TellPiece(const Birth& b) {
  const uint64_t number = info_.first_block + info_.births - 1;
  if (b.previous >= number) return;
  piece_.PutNumber(info_.births - last_piece_);
  piece_.PutNumber(number - b.previous);
  last_piece_ = info_.births;
}

uint8_t SegmentEncoder::EncodeShape(const Birth& b, StackMemory* stack) {
  if (b.is_mapping || b.size >= kLarge) [[unlikely]] {
    TellShape(b);
    return static_cast<uint8_t>((b.is_mapping ? kMappingShape : kLargeShape) << kShapeShift);
  }
  const uint64_t key = KnownShapes::KeyOf(b);
  const uint32_t place = KnownShapes::PlaceOf(key);
  uint32_t code = kNewShape;
  if (expectation_.shapes.At(place) == key) [[likely]] {
    code = stack->Find(place);
    if (code < kRecentShapes) return static_cast<uint8_t>(code << kShapeShift);
    code = kKnownShape;
    shape_low_.PutByte(static_cast<uint8_t>(place));
    shape_high_.PutByte(static_cast<uint8_t>(place >> 8));
  } else {
    TellShape(b);
    expectation_.shapes.Set(place, key);
  }
  stack->Add(place);
  return static_cast<uint8_t>(code << kShapeShift);
}

uint8_t SegmentEncoder::EncodeBirth(uint8_t kind, const Birth& b, const Moment& moment,
                                    const Birth* old) {
  const uint32_t place = PlaceOf(b.stack);
  uint8_t byte = EncodeStack(place, moment.memory);
  byte |= EncodeShape(b, &rows_[place].memory);
  if (expectation_.freed.Take(moment.thread, b.size + b.slack, b.address)) {
    byte |= kind == kAllocation ? kExpectedAllocation : kExpectedResize;
  } else {
    byte |= kind;
    TellAddress(b, old);
  }
  expectation_.born.Bear(info_.births++, moment.memory);
  TallyOf(place, b.is_mapping).AddBirth(b.size);
  if (!b.is_mapping) {
    info_.live_bytes_after += b.size;
    ++heap_births_;
  } else if (old == nullptr) {
    TellPiece(b);
  }
  return byte;
}

void SegmentEncoder::MakeRoom(uint64_t time_ns) {
  if (info_.events == 0) info_.begin_ns = info_.peak_ns = time_ns;
  room_ = kRoomEvents;
  for (ColumnWriter* const column : {&event_,
                                     &thread_column_,
                                     &resized_,
                                     &stack_low_,
                                     &stack_middle_,
                                     &stack_high_,
                                     &shape_low_,
                                     &shape_high_,
                                     &new_shape_,
                                     &distance_,
                                     &piece_,
                                     &address_,
                                     &address_low_,
                                     &address_high_,
                                     &address_tail_,
                                     &old_number_,
                                     &old_birth_,
                                     &old_stack_,
                                     &old_size_,
                                     &old_flag_,
                                     &old_tail_,
                                     &old_distance_,
                                     &old_address_column_,
                                     &old_detail_}) {
    column->Reserve(kRoomEvents * kMostBytes);
  }
  time_.Reserve(kRoomEvents);
  step_.Reserve(kRoomEvents);
  expectation_.born.Reserve(size_t{info_.births} + kRoomEvents);
}

size_t SegmentEncoder::CountSums() const {
  size_t count = 0;
  for (const Row& row : rows_) count += row.heap.empty() ? 0 : 1;
  for (const Tally& mappings : mappings_) count += mappings.empty() ? 0 : 1;
  return count;
}

// The places of the segment's stacks, in order of their numbers.
std::vector<uint32_t> SegmentEncoder::SortedPlaces() const {
  std::vector<uint32_t> sorted;
  if (stacks_.size() < places_.size() / kFewOfAll) {
    sorted.resize(stacks_.size());
    std::iota(sorted.begin(), sorted.end(), 0U);
    std::sort(sorted.begin(), sorted.end(),
              [&](uint32_t a, uint32_t b) { return stacks_[a] < stacks_[b]; });
    return sorted;
  }
  sorted.reserve(stacks_.size());
  std::copy_if(places_.begin(), places_.end(), std::back_inserter(sorted),
               [](uint32_t place) { return place != kNoIndex; });
  return sorted;
}

// The list of stacks, and the sums in its order.
void SegmentEncoder::EncodeStacks(ChunkMaker* chunk) {
  const std::vector<uint32_t> sorted = SortedPlaces();
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
  if (CountSums() * kEventsPerSum > info_.events) return;
  SumColumns columns;
  for (const uint32_t place : sorted) {
    columns.Add(stacks_[place], false, rows_[place].heap);
    if (place < mappings_.size()) columns.Add(stacks_[place], true, mappings_[place]);
  }
  chunk->Add(kSumCountColumn, columns.counts.bytes());
  chunk->Add(kSumByteColumn, columns.bytes.bytes());
  chunk->Add(kSumLifetimeColumn, columns.lifetimes.bytes());
}

void SegmentEncoder::AddColumns(ChunkMaker* chunk) {
  ColumnWriter info;
  EncodeInfo(info_, &info);
  chunk->Add(kInfoColumn, info.bytes(), false);
  EncodeStacks(chunk);
  if (BytesOfPlaces(stacks_.size()) < 3) stack_high_.Clear();
  if (BytesOfPlaces(stacks_.size()) < 2) stack_middle_.Clear();
  const std::pair<SegmentColumn, ColumnWriter*> columns[] = {
      {kEventColumn, &event_},
      {kTimeColumn, &time_.head()},
      {kTimeTailColumn, &time_.tail()},
      {kThreadColumn, &thread_column_},
      {kResizedColumn, &resized_},
      {kStepColumn, &step_.head()},
      {kStepTailColumn, &step_.tail()},
      {kStackLowColumn, &stack_low_},
      {kStackMiddleColumn, &stack_middle_},
      {kStackHighColumn, &stack_high_},
      {kShapeLowColumn, &shape_low_},
      {kShapeHighColumn, &shape_high_},
      {kNewShapeColumn, &new_shape_},
      {kDistanceColumn, &distance_},
      {kPieceColumn, &piece_},
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
  for (const uint32_t stack : stacks_) places_[stack] = kNoIndex;
  stacks_.clear();
  rows_.clear();
  mappings_.clear();
  expectation_.Begin(size_t{highest_thread_} + 2, 0);
  expectation_.BeginAddresses();
  heap_births_ = heap_deaths_ = 0;
  room_ = 0;
  encoded_ns_ = 0;
  thread_ = other_thread_ = 0;
  old_address_ = 0;
  corrected_ = 0;
  last_piece_ = 0;
}

SegmentInfo SegmentEncoder::info() const {
  SegmentInfo info = info_;
  info.end_ns = encoded_ns_;
  const uint64_t blocks = info.live_blocks_before + heap_births_;
  info.live_blocks_after = blocks - std::min<uint64_t>(blocks, heap_deaths_);
  return info;
}

std::span<const uint8_t> SegmentEncoder::Encode(ChunkMaker* chunk, SegmentInfo* info) {
  info_ = this->info();
  chunk->Begin(ChunkType::kSegment);
  AddColumns(chunk);
  const std::span<const uint8_t> bytes = chunk->Finish();
  *info = info_;
  info->bytes = bytes.size();
  BeginSegment();
  return bytes;
}

}  // namespace heapgauge::trace
