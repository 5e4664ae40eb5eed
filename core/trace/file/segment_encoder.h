// Turns the events of a segment into columns that hold what was not to be expected
// (expectation.h), an index entry, and sums per stack; and these into a chunk.
//
// Events are encoded some dozens after they come, so that memory can be asked for in between:
// stacks and blocks follow in no order that a processor could guess. One thread. Memory: some 20
// bytes for each event of one segment.
#ifndef HEAPGAUGE_CORE_TRACE_FILE_SEGMENT_ENCODER_H_
#define HEAPGAUGE_CORE_TRACE_FILE_SEGMENT_ENCODER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/trace/file/chunk.h"
#include "core/trace/file/column.h"
#include "core/trace/file/expectation.h"
#include "core/trace/file/sums_codec.h"
#include "core/trace/segment.h"

namespace heapgauge::trace {

class SegmentEncoder {
 public:
  SegmentEncoder();

  // As TraceWriter has them.
  void Allocate(const Block& block);
  void Free(const Block& block);
  void Reallocate(const Block& old, const Block& block);

  // Since the segment began.
  uint32_t events() const { return events_; }
  // The highest stack and thread that events have named so far.
  uint32_t highest_stack() const { return highest_stack_; }
  uint32_t highest_thread() const { return highest_thread_; }

  // Makes a chunk of kSegment of what came, and begins the next segment. The offset of `info` is
  // left to the caller.
  std::span<const uint8_t> Encode(ChunkMaker* chunk, SegmentInfo* info);

 private:
  // An event that waits.
  struct Waiting {
    uint64_t time_ns;
    uint32_t thread;  // index + 1
    bool is_birth;
    bool is_death;
    uint32_t born_place;  // of stacks
    uint32_t died_place;
    Block born;
    Block died;
  };
  static constexpr uint32_t kWaiting = 64;
  static constexpr uint32_t kDelay = 32;

  Waiting* Add(uint64_t time_ns, uint32_t thread);
  void AddBirth(const Block& block, Waiting* event);
  void AddDeath(const Block& block, Waiting* event);
  uint32_t PlaceOf(uint32_t stack);
  void MakeProgress();

  void EncodeEvent(const Waiting& event);
  void EncodeThread(uint32_t thread, uint8_t* byte);
  uint8_t EncodeDeath(const Waiting& event);
  void EncodeOld(const Waiting& event);
  uint8_t EncodeBirth(const Waiting& event);
  void EncodeAddress(const Waiting& event);
  void EncodeStacks(ChunkMaker* chunk);
  void AddColumns(ChunkMaker* chunk);
  void BeginSegment();

  Waiting waiting_[kWaiting];
  uint32_t added_ = 0;    // to waiting_, ever
  uint32_t encoded_ = 0;  // of these

  // Of the trace.
  uint64_t last_ns_ = 0;
  uint32_t highest_stack_ = 0;
  uint32_t highest_thread_ = 0;
  std::vector<uint32_t> places_;  // by stack number: its place in stacks_, kNoIndex

  // Of the segment.
  SegmentInfo info_;
  uint32_t events_ = 0;
  std::vector<uint32_t> stacks_;  // in order of appearance
  Expectation expectation_;
  SumsMaker sums_;
  uint64_t encoded_ns_ = 0;  // of the last event that was encoded
  uint32_t thread_ = 0;
  uint32_t other_thread_ = 0;
  uint64_t old_address_ = 0;
  uint32_t corrected_ = 0;  // death whose distance was told last
  ColumnWriter event_column_, thread_column_, resized_, stack_low_, stack_middle_, stack_high_,
      size_, distance_, detail_, detail_tail_, address_, address_low_, address_high_, address_tail_,
      old_number_, old_birth_, old_stack_, old_size_, old_flag_, old_tail_, old_distance_,
      old_address_column_, old_detail_;
  SplitWriter time_, back_;
  SumColumns sum_columns_;
};

}  // namespace heapgauge::trace

#endif  // HEAPGAUGE_CORE_TRACE_FILE_SEGMENT_ENCODER_H_
