// The recorder of `heapgauge run --trace`: records a program and those that it starts, into files
// or for their live blocks alone.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/gauge/gauge_finder.h"
#include "core/gauge/owner_process.h"
#include "core/os/process.h"
#include "core/trace/record/leak_watch.h"
#include "core/trace/record/process_end.h"
#include "core/trace/record/process_recorder.h"
#include "core/trace/record/trace_writer.h"

namespace heapgauge::trace {

// Counts what goes into a trace, and passes it on if there is a file at all: a program may be
// recorded for its live blocks alone.
//
// One thread.
class CountingWriter final : public TraceWriter {
 public:
  // `file` may be null.
  explicit CountingWriter(std::unique_ptr<TraceWriter> file) : file_(std::move(file)) {}

  const HeapUsage& usage() const { return usage_; }

  void AddModule(uint32_t index, const wire::ModuleRecord& module) override {
    if (file_) file_->AddModule(index, module);
  }
  void AddNode(uint32_t index, const wire::NodeRecord& node) override {
    if (file_) file_->AddNode(index, node);
  }
  void AddStack(uint32_t index, uint32_t leaf, uint16_t labels, uint16_t flags) override {
    if (file_) file_->AddStack(index, leaf, labels, flags);
  }
  void AddLabelSet(uint32_t index, const wire::LabelRecord& record) override {
    if (file_) file_->AddLabelSet(index, record);
  }
  void AddFrames(uint64_t pc_module, bool exact, const std::vector<FrameName>& frames) override {
    if (file_) file_->AddFrames(pc_module, exact, frames);
  }
  void SetThread(uint32_t index, const Thread& thread) override {
    if (file_) file_->SetThread(index, thread);
  }
  void AddMemory(const MemoryPoint& point) override {
    if (file_) file_->AddMemory(point);
  }
  void AddMarker(const Marker& marker) override {
    if (file_) file_->AddMarker(marker);
  }
  void Born(const Birth& block) override {
    ++totals_.events;
    CountBirth(block);
    if (file_) file_->Born(block);
  }
  void Died(const Birth& block, const Death& death) override {
    ++totals_.events;
    CountDeath(block);
    if (file_) file_->Died(block, death);
  }
  void Resized(const Birth& old, const Death& death, const Birth& block) override {
    ++totals_.events;
    CountDeath(old);
    CountBirth(block);
    if (file_) file_->Resized(old, death, block);
  }
  bool Expect(std::span<const uint32_t> stacks) override { return file_ && file_->Expect(stacks); }
  Status Flush() override { return file_ ? file_->Flush() : Status(); }
  Status TellSoFar(const Facts& facts) override {
    return file_ ? file_->TellSoFar(facts) : Status();
  }
  void BeginSurvivors() override {
    if (file_) file_->BeginSurvivors();
  }
  void AddSurvivor(const Block& block) override {
    if (file_) file_->AddSurvivor(block);
  }
  Status Finish(const Facts& ended) override { return file_ ? file_->Finish(ended) : Status(); }
  uint64_t bytes_written() const override { return file_ ? file_->bytes_written() : 0; }

  Totals totals() const override { return file_ ? file_->totals() : totals_; }

 private:
  void CountBirth(const Birth& block) {
    ++totals_.blocks;
    if (block.is_mapping) return;
    ++usage_.allocations;
    usage_.allocated_bytes += block.size;
    ++totals_.live_blocks;
    totals_.live_bytes += block.size;
    if (totals_.live_bytes > totals_.peak_bytes) {
      totals_.peak_bytes = totals_.live_bytes;
      totals_.peak_ns = block.birth_ns;
    }
  }
  void CountDeath(const Birth& block) {
    if (block.is_mapping) return;
    ++usage_.frees;
    --totals_.live_blocks;
    totals_.live_bytes -= block.size;
  }

  std::unique_ptr<TraceWriter> file_;
  HeapUsage usage_;
  Totals totals_;  // for want of a file that counts
};

struct RecorderOptions {
  RecordOptions record;
  std::string gauge_directory;   // "" for the usual ones
  std::string output;            // file for the program itself, "" for a name made of its own
  std::string output_directory;  // for such names
  bool follow = true;            // programs that it starts as well
  bool follow_fork = false;      // forked children trace too, from their first call on
  bool writes = true;            // false: no traces, only what the recorder knows
  LeakWatch* leaks = nullptr;    // asked when a program wants its leaks checked; must outlive it
};

// What there is to tell about one recording.
struct RecordedProcess {
  uint32_t pid = 0;
  std::string path;  // of the trace
  Facts facts;
  TraceWriter::Totals totals;
  uint64_t file_bytes = 0;
  bool said_goodbye = false;   // the agent saw the end of the program
  bool gave_up = false;        // the program saw no sign of life of us and stopped to trace
  uint64_t damaged = 0;        // buffers, or parts of such, that made no sense
  std::optional<Error> error;  // the trace ends early, or there is none
};

// The recorder of `heapgauge run --trace`: a thread that records a program and those that it
// starts, each into a trace file of its own, until all of them have ended.
//
// It sleeps while the program does nothing, and works without a pause when buffers run full. The
// signs of life that the program goes by come from Beat, which somebody else has to call: writing
// to a slow disk must not look like death.
//
// Start, Beat, ProgramEnded, Stop and WaitFor are for one other thread.
class Recorder {
 public:
  static constexpr uint64_t kBeatPeriodNs = 50'000'000;

  // Before the program is started.
  explicit Recorder(RecorderOptions options);
  ~Recorder();

  // False if there is no thread to be had.
  bool Start(uint32_t program);
  bool has_started() const { return thread_.joinable(); }
  // At least every kBeatPeriodNs.
  void Beat();
  // The program has ended; its children may go on.
  // `exited`: by itself, not by a signal.
  void ProgramEnded(bool exited);
  // Completes the traces of all that still run.
  void Stop();
  // True once everything is written.
  bool WaitFor(uint64_t ns);
  // Programs that are being recorded, or will be, and have not ended, as far as is known.
  size_t running();

  // After WaitFor was true: forked children that go on unrecorded.
  size_t unrecorded() const { return silent_; }
  // After WaitFor was true, in the order in which they ended.
  const std::vector<RecordedProcess>& recorded() const { return recorded_; }

 private:
  struct Session {
    std::unique_ptr<ProcessRecorder> recorder;
    GaugeOwner owner;
    OwnerProcess process;
    ProcessEnd end;
    std::string path;
    CountingWriter* counts = nullptr;  // the recorder's writer, if leaks are looked for
    uint64_t next_look_ns = 0;         // whether it was replaced
    std::string executable;            // the last that was seen
    uint64_t next_executable_ns = 0;
    uint64_t replaced_ns = 0;  // when it was seen to have executed a program without the agent
    bool finishing = false;
  };

  void Run();
  void LookForNew(uint64_t now_ns);
  void EndReplaced(const GaugeOwner& owner, const OwnerProcess& process);
  // False if the program does not trace, or not yet: to be tried again.
  bool Open(const GaugeOwner& owner, const OwnerProcess& process);
  void LookAtExecutable(Session* session, uint64_t now_ns);
  std::optional<RecordingState> StateOfGone(const Session& session);
  void EndThoseGone(uint64_t now_ns);
  void LookForSilent(uint64_t now_ns);
  void Finish(size_t index, RecordingState state);
  void AnswerQuestion(Session* session);
  std::string PathFor(const Facts& facts, uint32_t process);
  void MakeWay();
  bool Sleep(size_t bytes, bool pressed, uint64_t* nap_ns);

  RecorderOptions options_;
  ClockPair clock_start_;
  GaugeFinder finder_;
  uint32_t program_ = 0;
  std::thread thread_;
  uint64_t next_search_ns_ = 0;
  uint64_t next_gone_ns_ = 0;
  std::vector<RecordedProcess> recorded_;
  // Files that have no buffers yet: the agent says that it traces a moment after it made its file.
  struct Expected {
    GaugeOwner owner;
    OwnerProcess process;
    uint64_t until_ns = 0;
  };
  std::vector<Expected> expected_;
  std::vector<FileIdentity> gauges_;  // of all that were recorded; their names are gone by now
  uint64_t first_start_ticks_ = UINT64_MAX;  // of their processes, the earliest
  uint64_t next_silent_ns_ = 0;

  std::mutex mutex_;  // for all below
  std::condition_variable changed_;
  std::vector<Session> sessions_;  // changed by the thread alone
  size_t silent_ = 0;              // forked children that run and have no file of their own
  bool program_ended_ = false;
  bool program_exited_ = false;
  bool stop_ = false;
  bool done_ = false;
};

}  // namespace heapgauge::trace
