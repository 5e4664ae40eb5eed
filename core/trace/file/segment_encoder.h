// Collects the events of a segment and turns them into a chunk: a column for each kind of fact, an
// index entry, and sums per stack.
//
// One thread. Memory: about a hundred bytes for each event of one segment.
#ifndef HEAPGAUGE_CORE_TRACE_FILE_SEGMENT_ENCODER_H_
#define HEAPGAUGE_CORE_TRACE_FILE_SEGMENT_ENCODER_H_

#include <cstdint>
#include <vector>

#include "core/trace/file/chunk.h"
#include "core/trace/file/column.h"
#include "core/trace/segment.h"

namespace heapgauge::trace {

class SegmentEncoder {
 public:
  // As TraceWriter has them.
  void Allocate(const Block& block);
  void Free(const Block& block);
  void Reallocate(const Block& old, const Block& block);

  uint32_t events() const { return static_cast<uint32_t>(events_.size()); }
  // The highest stack and thread that the events name.
  uint32_t highest_stack() const { return highest_stack_; }
  uint32_t highest_thread() const { return highest_thread_; }

  // Makes a chunk of kSegment of what was collected, and begins the next segment. The offset of
  // `info` is left to the caller.
  std::span<const uint8_t> Encode(ChunkMaker* chunk, SegmentInfo* info);

 private:
  struct Happening {
    uint64_t time_ns;
    uint32_t born;  // index in new_, kNoIndex
    uint32_t died;  // index in new_, or in old_ with kOld added, kNoIndex
  };
  static constexpr uint32_t kOld = 1U << 31;

  uint32_t AddBirth(const Block& block);
  uint32_t AddDeath(const Block& block, bool resized_away);
  void Fill(SegmentInfo* info) const;

  std::vector<Block> old_;
  std::vector<Block> new_;
  std::vector<Happening> events_;
  uint64_t first_event_ = 0;
  uint64_t first_block_ = 0;
  uint64_t last_ns_ = 0;
  uint64_t live_bytes_ = 0;  // at the beginning of the segment
  uint64_t live_blocks_ = 0;
  uint32_t highest_stack_ = 0;
  uint32_t highest_thread_ = 0;
};

}  // namespace heapgauge::trace

#endif  // HEAPGAUGE_CORE_TRACE_FILE_SEGMENT_ENCODER_H_
