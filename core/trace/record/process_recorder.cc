#include "core/trace/record/process_recorder.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/gauge/gauge_facts.h"
#include "core/gauge/gauge_finder.h"
#include "core/gauge/gauge_layout.h"
#include "core/gauge/owner_process.h"
#include "core/os/proc_fields.h"
#include "core/os/process.h"
#include "core/os/process_memory.h"

namespace heapgauge::trace {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kSlackUs = 20;
constexpr uint64_t kPatienceUs = 1'000'000;
constexpr uint64_t kMemoryPeriod = 100 * kMillisecond;
constexpr uint64_t kProportionalPeriod = 5 * kSecond;
constexpr uint64_t kThreadsPeriod = 250 * kMillisecond;
constexpr uint64_t kThreadsPeriodMany = 20 * kMillisecond;
constexpr uint64_t kThreadsPeriodWaiting = 2 * kMillisecond;
constexpr uint64_t kNamesPeriod = 500 * kMillisecond;
// A segment that is worth its overhead is not kept back for long. A small one is for longer, in a
// run that is long already: whoever has just started a program looks at what it does.
constexpr uint64_t kFlushPeriod = kSecond;
constexpr uint64_t kFlushEvents = 1000;
constexpr uint64_t kFlushAtLast = 10 * kSecond;
constexpr uint64_t kQuietNs = kSecond / 10;  // without an event, before it is told that it runs
constexpr uint64_t kFlushShare = 20;         // of the time since the start
// With threads that are stopped; and for what a program that goes on had written when we stopped,
// 256 MiB at the most, on a slow disk.
constexpr uint64_t kLongestCatchUpNs = 3 * kSecond;
constexpr uint64_t kLongestFinishNs = 30 * kSecond;
constexpr unsigned kCatchUpNapUs = 50;
// Whoever asks for more than this must wait.
constexpr uint64_t kAnswerPeriod = 100 * kMillisecond;

// Adds up `Pss:` of /proc/PID/smaps_rollup; 0 if that may not be read.
uint64_t ProportionalBytes(uint32_t pid) {
  const auto text = ReadWholeFile(ProcessDirectory(pid) + "/smaps_rollup", 8192);
  return text ? StatusBytes(*text, "Pss") : 0;
}

}  // namespace

ProcessRecorder::ProcessRecorder(MappedGauge gauge) : gauge_(std::move(gauge)) {}
ProcessRecorder::~ProcessRecorder() = default;

Result<std::unique_ptr<ProcessRecorder>> ProcessRecorder::Open(const std::string& gauge_path,
                                                               ClockPair clock_start,
                                                               const RecordOptions& options,
                                                               const MakeWriter& make_writer) {
  HG_ASSIGN(MappedGauge gauge, MappedGauge::Open(gauge_path));
  std::unique_ptr<ProcessRecorder> recorder(new ProcessRecorder(std::move(gauge)));
  HG_TRY(recorder->Start(clock_start, options, make_writer));
  return recorder;
}

Result<Facts> ProcessRecorder::ReadFacts() const {
  HG_ASSIGN(const GaugeLayout layout, GaugeLayout::Read(gauge_.file(), gauge_.path()));
  Facts facts;
  facts.recording = RecordingOf(layout);
  // Of sampling there is none here.
  RecordingFacts& r = facts.recording;
  r.interval = r.interval_in_force = 0;
  r.max_samples_per_second = 0;
  r.samples = r.live_samples = r.inherited_samples = 0;
  r.file_bytes = 0;
  r.state = RecordingState::kLive;
  const wire::Header& header = layout.header();
  facts.lost_events = header.trace.lost;
  facts.waits = header.trace.waits;
  facts.waited_ns = header.trace.waited_ns;
  facts.records_mappings = options_.records_mappings || header.hooks_mappings != 0;
  facts.culled_below_ns = options_.cull_below_ns;
  return facts;
}

Status ProcessRecorder::Start(ClockPair clock_start, const RecordOptions& options,
                              const MakeWriter& make_writer) {
  if (!is_traced()) {
    return heapgauge::Fail(ErrorCode::kUnsupported,
                           "'" + Printable(gauge_.path()) + "' is of a program that is not traced");
  }
  options_ = options;
  clock_ =
      LoadShared(gauge_.control().clock) == static_cast<uint32_t>(wire::TraceClock::kCycleCounter)
          ? wire::TraceClock::kCycleCounter
          : wire::TraceClock::kMonotonicNs;
  pid_ = gauge_.header().pid;
  process_ = options.process.value_or(pid_);
  start_ns_ = gauge_.header().start_monotonic_ns;
  HG_ASSIGN(facts_, ReadFacts());
  if (auto writer = make_writer(facts_)) {
    writer_ = *std::move(writer);
    tables_.emplace(&gauge_, writer_.get());
  } else {
    error_ = writer.error();
  }
  converter_.emplace(clock_, clock_start);
  converter_->Add(TakePair(clock_));
  BufferReader::Options reading;
  reading.queue_bytes = options.queue_bytes;
  reading.clock = [clock = clock_] { return ReadClock(clock); };
  reading.slack = kSlackUs * converter_->PerMicrosecond();
  reading.patience = kPatienceUs * converter_->PerMicrosecond();
  reader_.emplace(&gauge_, std::move(reading));
  EventQueue::Options queue;
  queue.cull_below_ns = options.cull_below_ns;
  matcher_.emplace(writer_.get(), queue);
  last_flush_ns_ = MonotonicNow();
  last_event_ns_ = last_flush_ns_;
  gauge_.Beat();
  return {};
}

void ProcessRecorder::NotWritten(const Error& error) {
  if (!error_) error_ = error;
}

std::string ProcessRecorder::NameOf(uint32_t thread) const {
  return Printable(TaskName("/proc/" + std::to_string(process_) + "/task/" +
                            std::to_string(ThreadHere(thread))));
}

void ProcessRecorder::FindThreads() {
  if (process_ != pid_) threads_here_ = ThreadsByOwnNumber(process_);
}

// 0 if it is not known.
uint32_t ProcessRecorder::ThreadHere(uint32_t thread) const {
  if (process_ == pid_) return thread;
  const auto found = threads_here_.find(thread);
  return found == threads_here_.end() ? 0 : found->second;
}

// A vfork child writes into its parent's buffers and is no thread of it.
bool ProcessRecorder::ThreadExists(uint32_t thread) const {
  const uint32_t here = ThreadHere(thread);
  if (here == 0) return false;
  const std::string tasks = "/proc/" + std::to_string(process_) + "/task/";
  if (access((tasks + std::to_string(here)).c_str(), F_OK) == 0) return true;
  const auto process = ReadProcess(here);
  return process && process->parent == process_ && !process->ended();
}

void ProcessRecorder::NoteThreads() {
  if (threads_.size() == reader_->thread_count()) return;
  FindThreads();
  const size_t known = threads_.size();
  threads_.resize(reader_->thread_count());
  for (const EventStream* stream : reader_->streams()) {
    if (stream->index() >= threads_.size() || stream->index() < known ||
        threads_[stream->index()].thread.id != 0)
      continue;
    threads_[stream->index()].thread.id = stream->thread();
    // It may be gone by now.
    std::string name = NameOf(stream->thread());
    threads_[stream->index()].thread.name = name.empty() ? stream->name() : std::move(name);
  }
}

// Times become nanoseconds since the start, and threads and stacks are made known or made nothing.
void ProcessRecorder::Convert(std::span<MergedEvent> batch) {
  uint64_t least = start_ns_ + last_time_ns_;
  uint32_t thread = kNoIndex;
  const uint32_t stacks = tables_->KnownStacks();
  // Mostly one line has them all: both ends, and so what is between them.
  converter_->ToNs(batch.front().time);
  const ClockConverter::Line line = converter_->line();
  const bool on_line = line.Has(batch.front().time) && line.Has(batch.back().time);
  for (MergedEvent& event : batch) {
    const uint64_t now = on_line ? line.At(event.time) : converter_->ToNs(event.time);
    least = std::max(least, now);
    event.time = least - start_ns_;
    if (event.stack >= stacks && !tables_->HasStack(event.stack)) [[unlikely]]
      event.stack = 0;
    if (event.thread != thread) {
      thread = event.thread;
      TellThread(thread, event.time);
    }
  }
  last_time_ns_ = least - start_ns_;
}

void ProcessRecorder::TellThread(uint32_t thread, uint64_t now_ns) {
  ThreadState& state = threads_[thread];
  if (state.told) return;
  state.told = true;
  state.thread.first_ns = now_ns;
  writer_->SetThread(thread, state.thread);
}

void ProcessRecorder::Hand(const BufferReader::Pass& pass) {
  // Not only what this pass has read: of threads that are gone, the rest was taken in between.
  if (writer_ != nullptr && reader_->queued_bytes() != 0) {
    NoteThreads();
    tables_->CopyNew();
  }
  merge_.Start(reader_->streams(), pass.watermark);
  for (auto batch = merge_.Next(); !batch.empty(); batch = merge_.Next()) {
    if (writer_ == nullptr) continue;
    // Also where no more can be written: who looks for leaks goes by what is live.
    Convert(batch);
    matcher_->Process(batch);
  }
}

size_t ProcessRecorder::Work(uint64_t now_ns) {
  converter_->Add(TakePair(clock_));
  const BufferReader::Pass pass = reader_->Read();
  Hand(pass);
  if (pass.bytes != 0) last_event_ns_ = now_ns;
  last_bytes_ = pass.bytes;
  left_some_ = pass.left;
  LookAtThreads(now_ns);
  if (writer_ != nullptr && !error_) {
    if (options_.cull_below_ns != 0) {
      matcher_->Advance(std::max(last_time_ns_, SinceStart(converter_->ToNs(pass.watermark))));
    }
    LookAtMemory(now_ns);
    FlushIfAsked(now_ns);
    FlushIfDue(now_ns);
  }
  return pass.bytes;
}

void ProcessRecorder::LookAtThreads(uint64_t now_ns) {
  // Threads that come and go fill the buffers faster than those that stay.
  const bool waiting = LoadShared(gauge_.control().waiting) != 0;
  const bool many = reader_->taken() * 2 > LoadShared(gauge_.control().max_buffers);
  const uint64_t period = waiting ? kThreadsPeriodWaiting
                          : many  ? kThreadsPeriodMany
                                  : kThreadsPeriod;
  if (now_ns < last_threads_ns_ + period) return;
  last_threads_ns_ = now_ns;
  FindThreads();
  // Only if we see its threads at all.
  if (ThreadExists(pid_)) {
    reader_->ReleaseGone([this](uint32_t thread) { return ThreadExists(thread); });
  }
  if (now_ns < next_names_ns_ || writer_ == nullptr || error_) return;
  next_names_ns_ = now_ns + kNamesPeriod;
  tables_->CopyChanged();
  for (const EventStream* stream : reader_->streams()) {
    if (stream->index() >= threads_.size()) continue;
    ThreadState& state = threads_[stream->index()];
    std::string name = NameOf(stream->thread());
    if (name.empty() || name == state.thread.name) continue;
    state.thread.name = std::move(name);
    if (state.told) writer_->SetThread(stream->index(), state.thread);
  }
}

void ProcessRecorder::LookAtMemory(uint64_t now_ns) {
  if (now_ns < next_memory_ns_) return;
  next_memory_ns_ = now_ns + kMemoryPeriod;
  const auto memory = ReadProcessMemory(process_);
  if (!memory) return;
  MemoryPoint point;
  point.time_ns = SinceStart(now_ns);
  point.resident_bytes = memory->resident_bytes;
  point.anonymous_bytes = memory->anonymous_bytes;
  point.swapped_bytes = memory->swapped_bytes;
  point.cgroup_bytes = memory->cgroup_bytes;
  point.cgroup_limit = memory->cgroup_limit;
  if (now_ns >= next_proportional_ns_) {
    next_proportional_ns_ = now_ns + kProportionalPeriod;
    point.proportional_bytes = ProportionalBytes(process_);
  }
  writer_->AddMemory(point);
}

void ProcessRecorder::FlushIfDue(uint64_t now_ns) {
  const uint64_t events = writer_->totals().events;
  const uint64_t pending = events - flushed_events_;
  const uint64_t waited = now_ns - last_flush_ns_;
  const uint64_t at_last = std::min(kFlushAtLast, SinceStart(now_ns) / kFlushShare);
  if (waited < kFlushPeriod || (pending < kFlushEvents && waited < at_last)) return;
  Flush(now_ns);
}

void ProcessRecorder::FlushIfAsked(uint64_t now_ns) {
  const uint32_t wanted = LoadShared(gauge_.header().control.trace_requests);
  if (wanted == LoadShared(gauge_.trace_answers()) || now_ns < next_answer_ns_) return;
  next_answer_ns_ = now_ns + kAnswerPeriod;
  CatchUp();
  Flush(now_ns);
  if (error_) return;
  std::atomic_ref<uint32_t>(gauge_.trace_answers()).store(wanted, std::memory_order_release);
}

void ProcessRecorder::Flush(uint64_t now_ns) {
  last_flush_ns_ = now_ns;
  flushed_events_ = writer_->totals().events;
  if (const Status status = writer_->Flush(); !status) NotWritten(status.error());
  // Of a program that does nothing for a while, the last event does not tell that it is there.
  const uint64_t so_far_ns = SinceStart(now_ns);
  if (so_far_ns < std::max(last_time_ns_, told_ns_) + kQuietNs) return;
  told_ns_ = so_far_ns;
  Facts facts = facts_;
  facts.recording.duration_ns = so_far_ns;
  if (const Status status = writer_->TellSoFar(facts); !status) NotWritten(status.error());
}

bool ProcessRecorder::is_pressed() const {
  return left_some_ || LoadShared(gauge_.control().waiting) != 0 ||
         last_bytes_ * 4 > uint64_t{LoadShared(gauge_.control().max_buffers)} * wire::kSegmentBytes;
}

void ProcessRecorder::RemoveGaugeFile() const { RemoveGauge(gauge_.file().fd(), gauge_.path()); }

// All events up to the moment, and none after it, of a program that may write on and on. For so
// long at the most: a thread that was stopped within an event is waited for as long as the reader
// does, and one that lies about its times for ever.
void ProcessRecorder::ReadUpTo(uint64_t moment, uint64_t longest_ns) {
  const uint64_t until_ns = MonotonicNow() + longest_ns;
  while (true) {
    converter_->Add(TakePair(clock_));
    BufferReader::Pass pass = reader_->Read();
    const bool all = pass.watermark > moment;
    pass.watermark = std::min(pass.watermark, moment);
    Hand(pass);
    if (all || MonotonicNow() >= until_ns) break;
    if (!pass.left) usleep(kCatchUpNapUs);
  }
  matcher_->Settle();
}

void ProcessRecorder::CatchUp() { ReadUpTo(ReadClock(clock_), kLongestCatchUpNs); }

// All there is of a program that is gone. No buffer has anything new after it was read once; if it
// has, because somebody else writes there, that does not count.
void ProcessRecorder::ReadLast() {
  converter_->Add(TakePair(clock_));
  uint64_t bytes = 0;
  while (true) {
    const BufferReader::Pass pass = reader_->ReadLast();
    Hand(pass);
    bytes += pass.bytes;
    if (!pass.left || bytes > reader_->buffers() * wire::kSegmentBytes) break;
  }
}

void ProcessRecorder::Stop() {
  if (stopped_) return;
  // First: up to here every thread wrote what it did.
  stopped_ = {ReadClock(clock_), MonotonicNow()};
  gauge_.TellOver();
}

void ProcessRecorder::Finish(RecordingState state, uint64_t ended_ns) {
  if (state == RecordingState::kSnapshot) {
    Stop();
    ReadUpTo(stopped_->raw, kLongestFinishNs);
  } else {
    ReadLast();
  }
  if (writer_ != nullptr) matcher_->Finish();
  Facts facts = facts_;
  if (auto read = ReadFacts()) facts = *std::move(read);
  const uint64_t told_ns = LoadShared(gauge_.header().ended_ns);
  const uint64_t known_ns = SinceStart(ended_ns != 0 ? ended_ns
                                       : stopped_    ? stopped_->ns
                                                     : MonotonicNow());
  facts.recording.state = state;
  facts.recording.duration_ns = told_ns != 0 ? told_ns : std::max(last_time_ns_, known_ns);
  facts.unknown_frees = matcher_->counts().unknown_frees;
  facts.missed_frees = matcher_->counts().missed_frees;
  facts.complete = true;
  if (went_on_untraced()) facts.untraced_from_ns = std::max<uint64_t>(last_time_ns_, 1);
  if (writer_ != nullptr && !error_) {
    tables_->CopyChanged();
    writer_->BeginSurvivors();
    matcher_->ForEachSurvivor([this](const Block& block) { writer_->AddSurvivor(block); });
    facts.culled_blocks = matcher_->culled().blocks;
    facts.culled_bytes = matcher_->culled().bytes;
  }
  if (writer_ != nullptr) {
    if (const Status status = writer_->Finish(facts); !status) NotWritten(status.error());
    file_bytes_ = writer_->bytes_written();
  }
  facts_ = std::move(facts);
}

// The part of ProcessRecorder that talks with a program which wants its leaks checked.

namespace {

template <typename Word>
void StoreShared(Word& word, Word value) {
  std::atomic_ref<Word>(word).store(value, std::memory_order_relaxed);
}

}  // namespace

std::optional<LeakQuestion> ProcessRecorder::question() {
  const wire::LeakControl& leaks = gauge_.header().leaks;
  const uint32_t number = LoadShared(leaks.check_requests);
  if (number == LoadShared(leaks.check_answers)) return std::nullopt;
  LeakQuestion question;
  const uint32_t reason = LoadShared(leaks.check_reason);
  question.reason = reason == static_cast<uint32_t>(wire::CheckReason::kScope)
                        ? wire::CheckReason::kScope
                        : wire::CheckReason::kExit;
  question.number = number;
  FindThreads();
  question.thread = ThreadHere(LoadShared(leaks.check_thread));
  const uint64_t since = LoadShared(leaks.check_since);
  question.since_ns = since == 0 ? 0 : SinceStart(converter_->ToNs(since));
  question.stack_pointer = LoadShared(leaks.check_stack_pointer);
  return question;
}

uint64_t ProcessRecorder::now_ns() const {
  return std::max(last_time_ns_, SinceStart(MonotonicNow()));
}

void ProcessRecorder::Answer(uint32_t number, const LeakAnswer& answer) {
  wire::LeakControl& leaks = gauge_.leaks();
  StoreShared(leaks.check_error, answer.error);
  StoreShared(leaks.lost_blocks, answer.lost_blocks);
  StoreShared(leaks.lost_bytes, answer.lost_bytes);
  StoreShared(leaks.possible_blocks, answer.possible_blocks);
  StoreShared(leaks.possible_bytes, answer.possible_bytes);
  StoreShared(leaks.live_blocks, answer.live_blocks);
  StoreShared(leaks.live_bytes, answer.live_bytes);
  std::atomic_ref<uint32_t>(leaks.check_answers).store(number, std::memory_order_release);
  syscall(SYS_futex, &leaks.check_answers, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace heapgauge::trace
