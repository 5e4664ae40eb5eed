// Empties the buffers into which the threads of a traced program write (wire/trace_buffer.h):
// copies the events out, gives the buffers back, and tells up to which moment all events are known.
//
// Events are kept in one stream for each thread. What they hold together is bounded: a reader that
// is behind stops to empty buffers, and the program waits. Every stream may have a little
// nonetheless, so that the merge can always go on.
//
// One thread. Everything in the buffers is hostile: a buffer whose words make no sense is given up
// until it is taken again, and counted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/gauge/mapped_gauge.h"
#include "core/trace/record/merge.h"

namespace heapgauge::trace {

class BufferReader {
 public:
  struct Options {
    size_t queue_bytes = 4 << 20;  // while threads of the program wait for a buffer
    // Otherwise: what is read is handed on before it has left the processor's cache.
    size_t usual_queue_bytes = 1 << 20;
    std::function<uint64_t()> clock;  // the one that the program stamps events with
    // Of that clock: how late a thread's first store of an event may be seen, and how long one that
    // does not finish its event is waited for.
    uint64_t slack = 20'000;
    uint64_t patience = 1'000'000'000;
  };
  // `gauge` must outlive it.
  BufferReader(MappedGauge* gauge, Options options);
  ~BufferReader();

  struct Pass {
    size_t bytes = 0;        // copied
    bool left = false;       // there is more, for which there was no room
    uint64_t watermark = 0;  // all events up to here are in the streams
  };
  Pass Read();
  // After the program has ended: nobody writes any more, so all there is counts.
  Pass ReadLast();

  // Gives back what threads left behind that are no more, and forgets their streams once they are
  // empty. `exists` is asked with kernel ids. A thread whose number is not known (0) is never taken
  // for gone.
  void ReleaseGone(const std::function<bool(uint32_t)>& exists);

  // In order of appearance. Those of threads that are gone and have nothing left are missing.
  const std::vector<EventStream*>& streams() const { return order_; }
  // Threads that ever were.
  uint32_t thread_count() const { return threads_; }
  size_t queued_bytes() const;
  uint64_t damaged() const { return damaged_; }
  // Buffers that threads hold at the moment, and all.
  size_t taken() const;
  size_t buffers() const { return buffers_.size(); }

 private:
  struct Source;  // a thread: its stream and its buffers
  struct Buffer {
    wire::TraceBufferHeader* header = nullptr;
    uint32_t round = 0;     // that is being read
    uint32_t released = 0;  // the last one that was given back
    uint32_t offset = 0;    // of what is read next
    uint32_t seen = 0;      // position that was odd, and since when
    uint64_t odd_since = 0;
    uint32_t thread = 0;  // kernel id of who took it
    bool gone = false;    // that one is no more
    Source* source = nullptr;
  };

  void FindBuffers();
  bool FindTaken();
  void Activate(Source* source);
  void PartFrom(Source* source, const Buffer* buffer);
  Source* SourceOf(const wire::TraceBufferHeader& header);
  void Release(Buffer* buffer);
  bool Abandon(Buffer* buffer);
  Buffer* OldestOf(Source* source);
  void ForgetEmpty(const std::function<bool(uint32_t)>& exists);
  static void DropIdle(std::unique_ptr<Source>* source);
  Pass ReadAll(bool last);
  void ReadSource(Source* source, bool last, Pass* pass);
  size_t Copy(Buffer* buffer, uint32_t end, bool* all);

  MappedGauge* gauge_;
  Options options_;
  std::vector<Buffer> buffers_;
  uint32_t seen_ordinals_ = 0;
  std::vector<uint32_t> missing_ordinals_;
  std::unordered_map<uint64_t, std::unique_ptr<Source>> sources_;  // by token
  std::vector<Source*> active_;                                    // those that have buffers
  std::vector<EventStream*> order_;
  uint32_t next_index_ = 0;
  uint32_t threads_ = 0;
  uint64_t horizon_ = 0;       // of this pass
  uint64_t last_horizon_ = 0;  // of the one before
  uint64_t now_ = 0;
  size_t queued_ = 0;       // as of the start of the pass, and what was added
  size_t most_queued_ = 0;  // in this pass
  bool released_ = false;
  uint64_t damaged_ = 0;
};

}  // namespace heapgauge::trace
