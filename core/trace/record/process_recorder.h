// Records one program: from the buffers in its gauge file to its trace file. One call of Work takes
// what is there, puts it in order, matches it and hands it to the writer.
//
// Whatever goes wrong with the trace, the program must not notice: if the file cannot be written
// any more, events are taken out of the buffers all the same, so that what is live stays known, and
// error() tells.
//
// One thread, apart from Beat. Memory: the queue of events (bounded), one segment of the writer,
// and 80 to 130 bytes for each live block.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/gauge/mapped_gauge.h"
#include "core/trace/file/trace_facts.h"
#include "core/trace/record/block_matcher.h"
#include "core/trace/record/buffer_reader.h"
#include "core/trace/record/clock.h"
#include "core/trace/record/leak_watch.h"
#include "core/trace/record/merge.h"
#include "core/trace/record/table_copier.h"
#include "core/trace/record/trace_writer.h"

namespace heapgauge::trace {

struct RecordOptions {
  uint64_t cull_below_ns = 0;  // 0: all blocks are kept
  size_t queue_bytes = 4 << 20;
  bool records_mappings = false;
  // The number of the program here, 0 if it is gone (core/gauge/owner_process.h). Nothing: the one
  // that the gauge file tells.
  std::optional<uint32_t> process;
};

class ProcessRecorder {
 public:
  using MakeWriter = std::function<Result<std::unique_ptr<TraceWriter>>(const Facts&)>;

  // `clock_start` was taken before the program ran. An Error: the gauge file cannot be read. If the
  // writer cannot be made there is a recorder all the same, which drops everything.
  static Result<std::unique_ptr<ProcessRecorder>> Open(const std::string& gauge_path,
                                                       ClockPair clock_start,
                                                       const RecordOptions& options,
                                                       const MakeWriter& make_writer);
  ~ProcessRecorder();

  // Takes what is there. Returns how many bytes of events that were.
  size_t Work(uint64_t now_ns);
  // We stop recording a program that goes on, and tell it so: what happens from now on is not part
  // of the trace. To be followed by Finish; with several programs, call this for all of them first.
  void Stop();
  // The program has ended (or, kSnapshot, we stop recording it): takes all there is up to then and
  // completes the file. Bounded, whatever the program writes meanwhile. `ended_ns`: when that was,
  // CLOCK_MONOTONIC, if it did not say so itself; 0 now.
  void Finish(RecordingState state, uint64_t ended_ns = 0);

  // Any thread: tells the program that there is somebody.
  void Beat() { gauge_.Beat(); }

  // The number of the program as it knows it, and as others here do; 0 if it is gone.
  uint32_t pid() const { return pid_; }
  uint32_t process() const { return process_; }
  // All it knew is in the trace. A program that goes on still has it mapped.
  void RemoveGaugeFile() const;
  // The program waits for us, or will soon.
  bool is_pressed() const;
  // When there last was an event, CLOCK_MONOTONIC.
  uint64_t last_event_ns() const { return last_event_ns_; }
  // The program records every call, or did.
  bool is_traced() const { return LoadShared(gauge_.control().max_buffers) != 0; }
  // The program found nobody who empties its buffers, and traces no more.
  bool was_given_up() const { return LoadShared(gauge_.control().gave_up) != 0; }
  // It traces no more, and not because we said so.
  bool went_on_untraced() const {
    return was_given_up() || (LoadShared(gauge_.control().tracing) == 0 &&
                              LoadShared(gauge_.header().trace_over) == 0);
  }
  // It said goodbye.
  bool has_ended() const { return LoadShared(gauge_.header().ended_ns) != 0; }

  // For those who look for leaks: what the program asks, if it does and was not answered; all
  // events up to now, once its threads are stopped; and the answer.
  std::optional<LeakQuestion> question();
  void CatchUp();
  void Answer(uint32_t number, const LeakAnswer& answer);
  MappedGauge& gauge() { return gauge_; }
  const BlockMatcher& matcher() const { return *matcher_; }
  uint32_t thread_id(uint32_t index) const {
    return index < threads_.size() ? threads_[index].thread.id : 0;
  }
  uint64_t now_ns() const;  // on the clock of its blocks

  // Complete after Finish.
  const Facts& facts() const { return facts_; }
  TraceWriter::Totals totals() const {
    return writer_ != nullptr ? writer_->totals() : TraceWriter::Totals();
  }
  uint64_t file_bytes() const { return file_bytes_; }
  uint64_t damaged() const { return reader_->damaged(); }
  const std::optional<Error>& error() const { return error_; }
  // The trace is not written, or not whole; the first reason counts.
  void NotWritten(const Error& error);

 private:
  explicit ProcessRecorder(MappedGauge gauge);
  Status Start(ClockPair clock_start, const RecordOptions& options, const MakeWriter& make_writer);
  Result<Facts> ReadFacts() const;
  void Hand(const BufferReader::Pass& pass);
  void ReadUpTo(uint64_t moment, uint64_t longest_ns);
  void ReadLast();
  void Convert(std::span<MergedEvent> batch);
  void TellThread(uint32_t thread, uint64_t now_ns);
  void NoteThreads();
  void LookAtThreads(uint64_t now_ns);
  void LookAtMemory(uint64_t now_ns);
  void FlushIfDue(uint64_t now_ns);
  void FlushIfAsked(uint64_t now_ns);
  void Flush(uint64_t now_ns);

  std::string NameOf(uint32_t thread) const;
  bool ThreadExists(uint32_t thread) const;
  void FindThreads();
  uint32_t ThreadHere(uint32_t thread) const;
  uint64_t SinceStart(uint64_t now_ns) const { return now_ns > start_ns_ ? now_ns - start_ns_ : 0; }

  MappedGauge gauge_;
  wire::TraceClock clock_ = wire::TraceClock::kMonotonicNs;
  uint32_t pid_ = 0;
  uint32_t process_ = 0;
  // Numbers here of its threads, by their own, if these are not the same.
  std::unordered_map<uint32_t, uint32_t> threads_here_;
  uint64_t start_ns_ = 0;
  RecordOptions options_;
  Facts facts_;
  uint64_t told_ns_ = 0;                 // how long it had run when the trace was told last
  std::unique_ptr<TraceWriter> writer_;  // null: cannot be written
  std::optional<ClockConverter> converter_;
  std::optional<BufferReader> reader_;
  std::optional<TableCopier> tables_;
  std::optional<BlockMatcher> matcher_;
  Merge merge_{256};
  uint64_t last_time_ns_ = 0;  // of an event, since the start

  struct ThreadState {
    Thread thread;
    bool told = false;  // to the writer
  };
  std::vector<ThreadState> threads_;

  uint64_t last_event_ns_ = 0;
  size_t last_bytes_ = 0;  // that Work took
  bool left_some_ = false;
  uint64_t last_threads_ns_ = 0;
  uint64_t next_names_ns_ = 0;
  uint64_t next_memory_ns_ = 0;
  uint64_t next_proportional_ns_ = 0;
  uint64_t last_flush_ns_ = 0;
  uint64_t flushed_events_ = 0;
  uint64_t next_answer_ns_ = 0;
  struct Moment {
    uint64_t raw = 0;  // on the program's clock
    uint64_t ns = 0;   // CLOCK_MONOTONIC
  };
  std::optional<Moment> stopped_;
  uint64_t file_bytes_ = 0;
  std::optional<Error> error_;
};

}  // namespace heapgauge::trace
