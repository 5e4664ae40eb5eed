#include "core/trace/file/segment_decoder.h"

#include <algorithm>
#include <utility>

#include "core/trace/file/segment_columns.h"

namespace heapgauge::trace {
namespace {

// No number takes more, and none of the columns has more than this many for an event.
constexpr size_t kMaxBytesPerEvent = 24;
// Memory is asked for so many stacks ahead,
constexpr size_t kAhead = 16;
// and for the block that lies so far from one that is freed.
constexpr uint32_t kNear = 8;

class Decoding {
 public:
  Decoding(const ByteSource& source, const ChunkReader& chunk, const SegmentInfo& info,
           const SegmentLimits& limits, Scratch* scratch)
      : source_(source), chunk_(chunk), info_(info), limits_(limits), scratch_(*scratch) {}

  Status ReadStackList() {
    HG_ASSIGN(ColumnReader in, Load(kStackListColumn));
    std::vector<uint32_t>& stacks = scratch_.sorted;
    stacks.clear();
    uint64_t stack = 0;
    while (in.left() != 0) {
      const uint64_t step = in.Number();
      stack += step;
      if (!in.ok() || step > limits_.stacks || stack >= limits_.stacks ||
          (step == 0 && !stacks.empty())) {
        return chunk_.Damaged("bad list of stacks");
      }
      stacks.push_back(static_cast<uint32_t>(stack));
    }
    return {};
  }

  // Brings the list into the order of appearance.
  Status OrderStacks() {
    HG_ASSIGN(ColumnReader in, Load(kStackOrderColumn));
    const std::vector<uint32_t>& sorted = scratch_.sorted;
    scratch_.stacks.assign(sorted.size(), {});
    stack_bytes_ = BytesOfPlaces(sorted.size());
    for (StackMemory& stack : scratch_.stacks) {
      const uint64_t rank = in.Little(stack_bytes_);
      if (rank >= sorted.size()) return chunk_.Damaged("bad order of stacks");
      stack.SetNumber(sorted[rank]);
    }
    if (!in.done()) return chunk_.Damaged("bad order of stacks");
    return {};
  }

  Status ReadSums(std::vector<StackSums>* out) {
    HG_ASSIGN(const ColumnReader counts, Load(kSumCountColumn));
    HG_ASSIGN(const ColumnReader bytes, Load(kSumByteColumn));
    HG_ASSIGN(const ColumnReader lifetimes, Load(kSumLifetimeColumn));
    if (!DecodeSums(scratch_.sorted, counts, bytes, lifetimes, out)) {
      return chunk_.Damaged("bad sums");
    }
    return {};
  }

  Status Run(uint32_t parts, Segment* out) {
    with_events_ = (parts & kEvents) != 0;
    with_new_ = with_events_ || (parts & kNewBlocks) != 0;
    with_old_ = with_events_ || (parts & kOldBlocks) != 0;
    with_addresses_ = (parts & kAddresses) != 0;
    with_details_ = (parts & kDetails) != 0;
    wanted_of_shapes_ = with_details_ || with_addresses_ ? UINT64_MAX : UINT32_MAX;
    out->info = info_;
    if (!with_new_ && !with_old_) {
      out->blocks.clear();
      out->events.clear();
      return {};
    }
    HG_TRY(ReadStackList());
    HG_TRY(OrderStacks());
    if (scratch_.stacks.empty() && info_.events != 0) return chunk_.Damaged("no stacks");
    HG_TRY(OpenColumns());
    if (event_.left() != info_.events) return chunk_.Damaged("too few events");
    Expectation& expectation = scratch_.expectation;
    expectation.Begin(size_t{limits_.threads} + 1, with_new_ ? info_.births : 0);
    if (with_addresses_) expectation.BeginAddresses();
    // What is there already is written over, not made again.
    old_count_ = with_old_ ? info_.old_deaths : 0;
    out->blocks.resize(size_t{old_count_} + (with_new_ ? info_.births : 0));
    out->events.resize(with_events_ ? info_.events : 0);
    old_blocks_ = out->blocks.data();
    new_blocks_ = out->blocks.data() + old_count_;
    for (uint32_t i = 0; i < info_.events; ++i) {
      if (!DecodeEvent(with_events_ ? &out->events[i] : nullptr)) {
        return chunk_.Damaged("event " + std::to_string(i) + " makes no sense");
      }
    }
    const bool whole = old_deaths_ == info_.old_deaths && deaths_ == info_.deaths &&
                       (!with_new_ || births_ == info_.births) && next_piece_ == 0 && ColumnsDone();
    if (!whole) return chunk_.Damaged("its events contradict its figures");
    return {};
  }

 private:
  Result<ColumnReader> Load(SegmentColumn id) {
    ColumnBuffer& buffer = scratch_.columns[id];
    const size_t limit = size_t{info_.events} * kMaxBytesPerEvent + 64;
    HG_TRY(chunk_.Column(source_, id, limit, &scratch_.decompressor, &buffer));
    return ColumnReader(buffer.bytes());
  }

  // The columns that are needed; the others stay empty.
  Status OpenColumns() {
    const auto open = [&](SegmentColumn id, bool wanted, ColumnReader* reader) -> Status {
      if (!wanted) return {};
      HG_ASSIGN(*reader, Load(id));
      return {};
    };
    const auto split = [&](SegmentColumn head, SegmentColumn tail, bool wanted,
                           SplitReader* reader) -> Status {
      if (!wanted) return {};
      HG_ASSIGN(const ColumnReader heads, Load(head));
      HG_ASSIGN(const ColumnReader tails, Load(tail));
      *reader = SplitReader(heads, tails);
      return {};
    };
    const bool places = with_addresses_ && with_new_;
    HG_TRY(open(kEventColumn, true, &event_));
    HG_TRY(split(kTimeColumn, kTimeTailColumn, true, &time_));
    HG_TRY(open(kThreadColumn, true, &thread_));
    HG_TRY(open(kResizedColumn, true, &resized_));
    HG_TRY(split(kStepColumn, kStepTailColumn, with_new_, &step_));
    HG_TRY(open(kStackLowColumn, with_new_, &stack_low_));
    HG_TRY(open(kStackMiddleColumn, with_new_, &stack_middle_));
    HG_TRY(open(kStackHighColumn, with_new_, &stack_high_));
    HG_TRY(open(kShapeLowColumn, with_new_, &shape_low_));
    HG_TRY(open(kShapeHighColumn, with_new_, &shape_high_));
    HG_TRY(open(kNewShapeColumn, with_new_, &new_shape_));
    HG_TRY(open(kDistanceColumn, with_new_, &distance_));
    HG_TRY(open(kPieceColumn, with_new_, &piece_));
    HG_TRY(open(kAddressColumn, places, &address_));
    HG_TRY(open(kAddressLowColumn, places, &address_low_));
    HG_TRY(open(kAddressHighColumn, places, &address_high_));
    HG_TRY(open(kAddressTailColumn, places, &address_tail_));
    const bool old = info_.old_deaths != 0;
    HG_TRY(open(kOldNumberColumn, old, &old_number_));
    HG_TRY(open(kOldBirthColumn, old, &old_birth_));
    HG_TRY(open(kOldStackColumn, old, &old_stack_));
    HG_TRY(open(kOldSizeColumn, old, &old_size_));
    HG_TRY(open(kOldFlagColumn, old, &old_flag_));
    HG_TRY(open(kOldTailColumn, old, &old_tail_));
    HG_TRY(open(kOldDistanceColumn, old, &old_distance_));
    HG_TRY(open(kOldAddressColumn, old && with_addresses_, &old_address_));
    HG_TRY(open(kOldDetailColumn, old && (with_details_ || with_addresses_), &old_detail_));
    if (distance_.left() != 0) corrected_ = distance_.Number();
    FindNextPiece();
    return {};
  }

  // All that was opened was read to its end, and no further.
  bool ColumnsDone() const {
    const ColumnReader* const columns[] = {
        &event_,      &thread_,       &resized_,     &stack_low_,    &stack_middle_,
        &stack_high_, &shape_low_,    &shape_high_,  &new_shape_,    &distance_,
        &piece_,      &address_,      &address_low_, &address_high_, &address_tail_,
        &old_number_, &old_birth_,    &old_stack_,   &old_size_,     &old_flag_,
        &old_tail_,   &old_distance_, &old_address_, &old_detail_};
    const bool done = std::all_of(std::begin(columns), std::end(columns),
                                  [](const ColumnReader* column) { return column->done(); });
    return done && time_.done() && step_.done();
  }

  bool DecodeEvent(Event* out) {
    const uint8_t byte = event_.Byte();
    if ((byte & kOtherThread) != 0) {
      const uint64_t told = thread_.Number();
      const uint64_t next = told == 0 ? other_ : told - 1;
      if (next > limits_.threads) return false;
      other_ = now_;
      now_ = static_cast<uint32_t>(next);
    }
    const uint64_t passed = time_.Number();
    if (passed > info_.end_ns - time_ns_) return false;
    time_ns_ += passed;
    Event event{time_ns_, kNoIndex, kNoIndex};
    uint8_t kind = byte & kKindMask;
    if (kind > kExpectedResize) return false;
    const bool resize = kind == kResize || kind == kExpectedResize;
    const bool birth = resize || kind == kAllocation || kind == kExpectedAllocation;
    const bool expected = kind >= kExpectedAllocation;
    uint64_t died = kNoBlock;
    resized_address_ = 0;
    if (resize || !birth) {
      if (resize) kind = resized_.Byte();
      if (kind == kAllocation || kind > kFreeOld) return false;
      ++deaths_;
      if (kind == kFreeOld) {
        if (!DecodeOld(resize, &event, &died)) return false;
      } else if (with_new_ && !DecodeDeath(kind, resize, &event, &died)) {
        return false;
      }
    }
    if (with_new_ && birth) {
      if (!DecodeBirth(byte, died, expected)) return false;
      event.born = old_count_ + births_ - 1;
    }
    if (out != nullptr) *out = event;
    return true;
  }

  bool DecodeDeath(uint8_t kind, bool resize, Event* event, uint64_t* died) {
    ThreadMemory& thread = scratch_.expectation.threads[now_];
    BornBlocks& born = scratch_.expectation.born;
    const uint64_t told =
        kind == kFreeLast ? thread.youngest : thread.freed + UnZigZag(step_.Number());
    const auto index = static_cast<uint32_t>(told);
    if (told >= births_ || !born.IsLive(index)) return false;
    Block& block = new_blocks_[index];
    block.death_ns = time_ns_;
    block.death_thread = now_ - 1;
    block.resized_away = resize;
    block.distance = block.thread == now_ - 1 ? born.DistanceTo(index, thread) : kForeign;
    if (deaths_ == corrected_) Correct(&block);
    born.Kill(index, &thread);
    // The next one will be near.
    if (kind == kFreeStep && index + kNear < births_) {
      __builtin_prefetch(&new_blocks_[index + kNear], 1);
      born.Prefetch(index + kNear);
    }
    if (with_addresses_) {
      scratch_.expectation.freed.Push(now_, block.size + block.slack, block.address);
      resized_address_ = block.address;
    }
    event->died = old_count_ + index;
    *died = block.number;
    return true;
  }

  void Correct(Block* block) {
    block->distance = static_cast<uint32_t>(distance_.Number()) - 1;
    const uint64_t next = distance_.left() != 0 ? distance_.Number() : 0;
    corrected_ = next != 0 ? corrected_ + next : 0;
  }

  bool DecodeBirth(uint8_t byte, uint64_t died, bool expected_address) {
    if (births_ == info_.births) return false;
    Expectation& expectation = scratch_.expectation;
    ThreadMemory& thread = expectation.threads[now_];
    uint32_t& expected = scratch_.stacks[thread.stack].next;
    if ((byte & kOtherStack) != 0) {
      uint32_t place = stack_low_.Byte();
      if (stack_bytes_ > 1) place |= uint32_t{stack_middle_.Byte()} << 8;
      if (stack_bytes_ > 2) place |= uint32_t{stack_high_.Byte()} << 16;
      if (place >= scratch_.stacks.size()) return false;
      expected = place;
      PrefetchStack();
    }
    const uint32_t place = thread.stack = expected;
    Block& block = new_blocks_[births_];
    block.number = info_.first_block + births_;
    block.birth_ns = time_ns_;
    block.death_ns = kNever;
    block.previous = died;
    block.stack = scratch_.stacks[place].number();
    block.thread = now_ - 1;
    block.death_thread = kNoIndex;
    block.distance = kForeign;
    block.resized_away = false;
    DecodeShape(byte >> kShapeShift, &scratch_.stacks[place], &block);
    block.address = 0;
    if (with_addresses_ && !DecodeAddress(expected_address, &block)) return false;
    expectation.born.Bear(births_, &thread);
    ++births_;
    return true;
  }

  // Of a birth soon to come.
  void PrefetchStack() {
    const uint32_t place = stack_low_.Peek(kAhead) |
                           (stack_bytes_ > 1 ? uint32_t{stack_middle_.Peek(kAhead)} << 8 : 0);
    if (place >= scratch_.stacks.size()) return;
    __builtin_prefetch(&scratch_.stacks[place], 1);
  }

  void DecodeShape(uint32_t code, StackMemory* stack, Block* block) {
    KnownShapes& shapes = scratch_.expectation.shapes;
    block->is_mapping = code == kMappingShape;
    if (code < kRecentShapes) {
      KnownShapes::Apply(shapes.At(stack->At(code)) & wanted_of_shapes_, block);
      return;
    }
    if (code == kKnownShape) {
      const uint32_t place =
          (shape_low_.Byte() | uint32_t{shape_high_.Byte()} << 8) % KnownShapes::kPlaces;
      KnownShapes::Apply(shapes.At(place) & wanted_of_shapes_, block);
      stack->Add(place);
      return;
    }
    Birth told;
    told.size = new_shape_.Number();
    told.slack = static_cast<uint16_t>(new_shape_.Number());
    told.function = new_shape_.Byte();
    told.alignment_log2 = new_shape_.Byte();
    const uint64_t size = std::exchange(told.size, static_cast<uint32_t>(told.size));
    const uint64_t key = KnownShapes::KeyOf(told);
    KnownShapes::Apply(key & wanted_of_shapes_, block);
    if (code != kNewShape) {
      block->size = size;
      if (block->is_mapping && births_ + 1 == next_piece_) DecodePiece(block);
      return;
    }
    const uint32_t place = KnownShapes::PlaceOf(key);
    shapes.Set(place, key);
    stack->Add(place);
  }

  // What makes no sense spoils the column, which is found at the end; so is a piece that is no
  // mapping, since then it is still waited for.
  void DecodePiece(Block* block) {
    const uint64_t back = piece_.Number();
    if (back == 0 || back > block->number || block->previous != kNoBlock) return piece_.Spoil();
    block->previous = block->number - back;
    FindNextPiece();
  }

  void FindNextPiece() {
    const uint64_t step = piece_.left() != 0 ? piece_.Number() : 0;
    next_piece_ = step != 0 ? next_piece_ + step : 0;
  }

  bool DecodeAddress(bool expected, Block* block) {
    if (expected) {
      block->address = scratch_.expectation.freed.TakeLast(now_, block->size + block->slack);
      return true;
    }
    const uint8_t byte = address_.Byte();
    if (byte == kSameAddress) {
      block->address = resized_address_;
      return true;
    }
    uint64_t region = 0;
    if (byte >= kKnownRegion) {
      region = scratch_.expectation.regions.At(byte);
    } else if (byte == kNewRegion) {
      region = address_tail_.Number();
      scratch_.expectation.regions.Add(region);
    } else {
      return false;
    }
    const uint64_t low = address_low_.Byte();
    const uint64_t high = address_high_.Byte();
    block->address = FromUnits(region << kRegionBits | high << 8 | low);
    return true;
  }

  bool DecodeOld(bool resize, Event* event, uint64_t* died) {
    if (old_deaths_ == info_.old_deaths) return false;
    Block unwanted;
    Block& block = with_old_ ? old_blocks_[old_deaths_] : unwanted;
    block = {};
    ThreadMemory& thread = scratch_.expectation.threads[now_];
    block.number = thread.old_number = old_number_.Difference(thread.old_number);
    block.birth_ns = thread.old_birth_ns = old_birth_.Difference(thread.old_birth_ns);
    const uint64_t place = old_stack_.Number();
    if (block.number >= info_.first_block || block.birth_ns > time_ns_ ||
        place >= scratch_.stacks.size()) {
      return false;
    }
    block.stack = scratch_.stacks[place].number();
    block.size = old_size_.Number();
    const uint8_t flags = old_flag_.Byte();
    block.is_mapping = (flags & kOldIsMapping) != 0;
    if ((flags & kOldHasPrevious) != 0) {
      const uint64_t back = old_tail_.Number();
      if (back == 0 || back > block.number) return false;
      block.previous = block.number - back;
    }
    const uint64_t owner = (flags & kOldOtherThread) != 0 ? old_tail_.Number() : now_;
    if (owner > limits_.threads) return false;
    block.thread = static_cast<uint32_t>(owner) - 1;
    block.distance = static_cast<uint32_t>(old_distance_.Number()) - 1;
    block.death_ns = time_ns_;
    block.death_thread = now_ - 1;
    block.resized_away = resize;
    if (with_details_ || with_addresses_) {
      block.slack = static_cast<uint16_t>(old_detail_.Number());
      block.function = old_detail_.Byte();
      block.alignment_log2 = old_detail_.Byte();
    }
    if (with_addresses_) {
      last_old_address_ = old_address_.Difference(last_old_address_);
      block.address = FromUnits(last_old_address_);
      scratch_.expectation.freed.Push(now_, block.size + block.slack, block.address);
      resized_address_ = block.address;
    }
    event->died = old_deaths_++;
    *died = block.number;
    return true;
  }

  const ByteSource& source_;
  const ChunkReader& chunk_;
  const SegmentInfo& info_;
  const SegmentLimits& limits_;
  Scratch& scratch_;
  bool with_events_ = false;
  bool with_new_ = false;
  bool with_old_ = false;
  bool with_addresses_ = false;
  bool with_details_ = false;
  uint64_t wanted_of_shapes_ = 0;  // bits

  ColumnReader event_, thread_, resized_, stack_low_, stack_middle_, stack_high_, shape_low_,
      shape_high_, new_shape_, distance_, piece_, address_, address_low_, address_high_,
      address_tail_, old_number_, old_birth_, old_stack_, old_size_, old_flag_, old_tail_,
      old_distance_, old_address_, old_detail_;
  SplitReader time_, step_;
  size_t stack_bytes_ = 1;

  Block* old_blocks_ = nullptr;
  Block* new_blocks_ = nullptr;
  uint32_t old_count_ = 0;  // old blocks in the result
  uint32_t old_deaths_ = 0;
  uint32_t births_ = 0;
  uint64_t deaths_ = 0;
  uint64_t corrected_ = 0;   // the death whose distance is told next, 0 none
  uint64_t next_piece_ = 0;  // the birth of the next piece, counted from 1; 0 none
  uint32_t now_ = 0;         // thread of the event
  uint32_t other_ = 0;       // the one before
  uint64_t time_ns_ = 0;
  uint64_t last_old_address_ = 0;
  uint64_t resized_address_ = 0;
};

void SumUp(const Segment& segment, const std::vector<uint32_t>& stacks,
           std::vector<StackSums>* out) {
  std::vector<Tally> tallies[2];  // heap, mappings
  for (auto& list : tallies) list.resize(stacks.size());
  const auto place_of = [&](uint32_t stack) {
    const auto at = std::lower_bound(stacks.begin(), stacks.end(), stack);
    return static_cast<uint32_t>(at - stacks.begin());
  };
  for (size_t i = 0; i < segment.blocks.size(); ++i) {
    const Block& block = segment.blocks[i];
    Tally& tally = tallies[block.is_mapping ? 1 : 0][place_of(block.stack)];
    if (i >= segment.info.old_deaths) tally.AddBirth(block.size);
    if (!block.is_live()) tally.AddDeath(block.size, block.lifetime_ns(0), block.distance == 0);
  }
  out->clear();
  for (size_t i = 0; i < stacks.size(); ++i) {
    AppendSums(stacks[i], false, tallies[0][i], out);
    AppendSums(stacks[i], true, tallies[1][i], out);
  }
}

}  // namespace

Status DecodeSegment(const ByteSource& source, const ChunkReader& chunk, const SegmentInfo& info,
                     const SegmentLimits& limits, uint32_t parts, Scratch* scratch, Segment* out) {
  Decoding decoding(source, chunk, info, limits, scratch);
  HG_TRY(decoding.Run(parts, out));
  if ((parts & kAddresses) != 0 && (parts & kDetails) == 0) {
    for (Block& block : out->blocks) block.slack = block.function = block.alignment_log2 = 0;
  }
  return {};
}

Status DecodeSegmentSums(const ByteSource& source, const ChunkReader& chunk,
                         const SegmentInfo& info, const SegmentLimits& limits, Scratch* scratch,
                         std::vector<StackSums>* out) {
  Decoding decoding(source, chunk, info, limits, scratch);
  if (chunk.has(kSumCountColumn) || info.events == 0) {
    HG_TRY(decoding.ReadStackList());
    return decoding.ReadSums(out);
  }
  Segment segment;
  HG_TRY(decoding.Run(kOldBlocks | kNewBlocks, &segment));
  SumUp(segment, scratch->sorted, out);
  return {};
}

}  // namespace heapgauge::trace
