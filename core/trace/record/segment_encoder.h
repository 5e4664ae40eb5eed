// Turns the events of a segment into columns that hold what was not to be expected
// (core/trace/file/expectation.h), an index entry, and sums per stack; and these into a chunk.
//
// Every event of a traced program comes through here. Each is encoded when it comes, from where its
// block is kept; memory that it needs can be asked for before (Expect), since stacks follow in no
// order that a processor could guess.
//
// One thread. Memory: some 20 bytes for each event of one segment, 64 for each of its stacks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/trace/file/chunk.h"
#include "core/trace/file/column.h"
#include "core/trace/file/expectation.h"
#include "core/trace/file/segment.h"
#include "core/trace/file/segment_columns.h"

namespace heapgauge::trace {

class SegmentEncoder {
 public:
  SegmentEncoder();

  // As EventSink has them.
  void Born(const Birth& block);
  void Died(const Birth& block, const Death& death);
  void Resized(const Birth& old, const Death& death, const Birth& block);
  bool Expect(std::span<const uint32_t> stacks) const;

  // Since the segment began.
  uint32_t events() const { return info_.events; }
  // What there is of it; times of a segment without events mean nothing.
  SegmentInfo info() const;
  // The highest stack and thread that events have named so far.
  uint32_t highest_stack() const { return highest_stack_; }
  uint32_t highest_thread() const { return highest_thread_; }

  // Makes a chunk of kSegment of what came, and begins the next segment. The offset of `info` is
  // left to the caller.
  std::span<const uint8_t> Encode(ChunkMaker* chunk, SegmentInfo* info);

 private:
  // Of one stack: in one line of the cache.
  struct alignas(64) Row {
    StackMemory memory;
    Tally heap;
  };
  static_assert(sizeof(Row) == 64);
  // What a function here knows of the event that it is about.
  struct Moment {
    uint64_t time_ns;
    uint32_t thread;  // index + 1
    uint8_t byte;
    ThreadMemory* memory;
  };

  uint32_t PlaceOf(uint32_t stack);
  [[gnu::noinline]] uint32_t AddStack(uint32_t stack);
  Tally& TallyOf(uint32_t place, bool is_mapping);

  Moment BeginEvent(uint64_t time_ns, uint32_t thread);
  void EndEvent(uint8_t byte);
  [[gnu::noinline]] void ChangeThread(uint32_t thread);
  uint8_t EncodeDeath(const Birth& block, const Death& death, const Moment& moment);
  [[gnu::noinline]] void EncodeOld(const Birth& block, const Death& death, uint32_t place,
                                   const Moment& moment);
  // `kind` is kAllocation or kResize.
  uint8_t EncodeBirth(uint8_t kind, const Birth& block, const Moment& moment, const Birth* old);
  uint8_t EncodeStack(uint32_t place, ThreadMemory* thread);
  uint8_t EncodeShape(const Birth& block, StackMemory* stack);
  [[gnu::noinline]] void TellShape(const Birth& block);
  [[gnu::noinline]] void TellPiece(const Birth& block);
  [[gnu::noinline]] void TellAddress(const Birth& block, const Birth* old);

  // At the first event of a segment, and when columns are full.
  [[gnu::noinline]] void MakeRoom(uint64_t time_ns);
  size_t CountSums() const;  // rows that are not empty
  std::vector<uint32_t> SortedPlaces() const;
  void EncodeStacks(ChunkMaker* chunk);
  void AddColumns(ChunkMaker* chunk);
  void BeginSegment();

  // Of the trace.
  uint64_t last_ns_ = 0;
  uint32_t highest_stack_ = 0;
  uint32_t highest_thread_ = 0;
  std::vector<uint32_t> places_;  // by stack number: its place in stacks_, kNoIndex

  // Of the segment.
  SegmentInfo info_;
  uint32_t heap_births_ = 0;  // mappings left out
  uint32_t heap_deaths_ = 0;
  std::vector<uint32_t> stacks_;  // in order of appearance
  std::vector<Row> rows_;         // of these
  std::vector<Tally> mappings_;   // the same; shorter or empty if there are none
  Expectation expectation_;
  uint32_t room_ = 0;        // events for which all columns have room
  uint64_t encoded_ns_ = 0;  // of the last event
  uint32_t thread_ = 0;
  uint32_t other_thread_ = 0;
  uint64_t old_address_ = 0;
  uint32_t corrected_ = 0;   // death whose distance was told last
  uint32_t last_piece_ = 0;  // birth that was told last as a piece, counted from 1
  ColumnWriter event_, thread_column_, resized_, stack_low_, stack_middle_, stack_high_, shape_low_,
      shape_high_, new_shape_, distance_, piece_, address_, address_low_, address_high_,
      address_tail_, old_number_, old_birth_, old_stack_, old_size_, old_flag_, old_tail_,
      old_distance_, old_address_column_, old_detail_;
  SplitWriter time_, step_;
};

}  // namespace heapgauge::trace
