// Collects the events of a segment and turns them into a chunk: columns that hold what was not to
// be expected (expectation.h), an index entry, and sums per stack.
//
// One thread. Memory: about a hundred bytes for each event of one segment.
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
  // How many events a segment will have, about.
  explicit SegmentEncoder(uint32_t segment_events);

  // As TraceWriter has them.
  void Allocate(const Block& block);
  void Free(const Block& block);
  void Reallocate(const Block& old, const Block& block);

  uint32_t events() const { return static_cast<uint32_t>(events_.size()); }
  // The highest stack and thread that events have named so far.
  uint32_t highest_stack() const { return highest_stack_; }
  uint32_t highest_thread() const { return highest_thread_; }

  // Makes a chunk of kSegment of what was collected, and begins the next segment. The offset of
  // `info` is left to the caller.
  std::span<const uint8_t> Encode(ChunkMaker* chunk, SegmentInfo* info);

 private:
  struct Birth {
    uint64_t time_ns;
    uint64_t address;
    uint64_t size;
    uint32_t stack;
    uint16_t slack;
    uint8_t function;
    uint8_t alignment_log2;
    bool is_mapping;
  };
  struct Happening {
    uint64_t time_ns;
    uint32_t thread;    // index + 1
    uint32_t born;      // index in births_, kNoIndex
    uint32_t died;      // index in births_, or in old_ with kOld added, kNoIndex
    uint32_t distance;  // of the one that died
  };
  static constexpr uint32_t kOld = 1U << 31;

  void Meet(uint32_t stack);
  uint32_t MeetThread(uint32_t thread);
  uint32_t AddBirth(const Block& block);
  uint32_t AddDeath(const Block& block);
  void RankStacks();
  void EncodeEvents(SegmentInfo* info);
  void Prefetch(size_t event) const;
  void EncodeThread(uint32_t thread, uint8_t* byte);
  uint8_t EncodeDeath(const Happening& event, uint32_t born_before);
  uint8_t EncodeBirth(const Happening& event, uint64_t resized_address);
  void EncodeOld(const Happening& event, const Block& block);
  void EncodeAddress(const Birth& birth, uint32_t thread, uint64_t resized_address);
  void AddColumns(const SegmentInfo& info, ChunkMaker* chunk);
  void BeginNext(const SegmentInfo& info);

  // Collected.
  std::vector<Block> old_;
  std::vector<Birth> births_;
  std::vector<Happening> events_;
  std::vector<uint32_t> stacks_;  // that events name; in order once they are ranked
  std::vector<uint32_t> places_;  // by stack number: its place in stacks_, kNoIndex
  uint64_t address_bits_ = 0;     // all addresses, or-ed
  uint64_t first_event_ = 0;
  uint64_t first_block_ = 0;
  uint64_t last_ns_ = 0;
  uint64_t live_bytes_ = 0;  // at the beginning of the segment
  uint64_t live_blocks_ = 0;
  uint32_t highest_stack_ = 0;
  uint32_t highest_thread_ = 0;

  // While a segment is encoded.
  Expectation expectation_;
  SumsMaker sums_;
  int shift_ = 0;  // addresses are multiples of 1 << shift_
  uint32_t thread_ = 0;
  uint32_t other_thread_ = 0;
  uint64_t old_address_ = 0;
  uint32_t deaths_ = 0;
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
