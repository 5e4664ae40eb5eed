#include "core/trace/record/recorder.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>

#include "core/base/text.h"
#include "core/base/threads.h"
#include "core/os/process.h"

namespace heapgauge::trace {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint64_t kBusyNap = kMillisecond;
constexpr uint64_t kLongestBusyNap = 4 * kMillisecond;
constexpr uint64_t kTurnBytes = 128 << 10;  // what a turn should find to read: each has its price
constexpr uint64_t kFirstIdleNap = 5 * kMillisecond;
constexpr uint64_t kLongestNap = 20 * kMillisecond;
constexpr uint64_t kFirstSearchPeriod = 2 * kMillisecond;  // until there is one
constexpr uint64_t kSearchPeriod = 50 * kMillisecond;
constexpr uint64_t kGonePeriod = 100 * kMillisecond;
constexpr uint64_t kExpectedNs = 2000 * kMillisecond;
constexpr uint64_t kLastLookNs = 20 * kMillisecond;
constexpr uint64_t kReplacedPeriod = 1000 * kMillisecond;
constexpr uint64_t kExecutablePeriod = 10 * kMillisecond;
constexpr uint64_t kSilentPeriod = 250 * kMillisecond;
constexpr char kSuffix[] = ".hgt";

// Whatever they are called. Forked children have their parent's time, and in namespaces perhaps one
// number.
bool IsSameFile(const GaugeOwner& a, const GaugeOwner& b) {
  return a.pid == b.pid && a.process_start_ticks == b.process_start_ticks &&
         a.start_realtime_ns == b.start_realtime_ns;
}

// Two files of one process. One that is gone is known by what it wrote of itself.
bool IsSame(const GaugeOwner& a, const OwnerProcess& a_process, const GaugeOwner& b,
            const OwnerProcess& b_process) {
  if (a_process.pid != 0 && b_process.pid != 0) {
    return a_process.pid == b_process.pid && a_process.start_ticks == b_process.start_ticks;
  }
  return a.pid == b.pid && a.process_start_ticks == b.process_start_ticks;
}

std::string WithoutSuffix(const std::string& path) {
  const size_t length = sizeof kSuffix - 1;
  const bool has = path.size() > length && path.compare(path.size() - length, length, kSuffix) == 0;
  return has ? path.substr(0, path.size() - length) : path;
}

// NAME.hgt, or NAME.2.hgt and so on if that is taken.
std::string FreeName(const std::string& name) {
  std::string path = name + kSuffix;
  for (int i = 2; access(path.c_str(), F_OK) == 0 && i < 10'000; ++i) {
    path = name + "." + std::to_string(i) + kSuffix;
  }
  return path;
}

std::string ProgramName(const RecordingFacts& recording) {
  std::string name(BaseName(recording.program));
  for (char& c : name) {
    if (c == '/' || static_cast<unsigned char>(c) < ' ') c = '_';
  }
  return name.empty() ? "program" : name;
}

// Goes on counting while it is looked at.
const HeapUsage& UsageOf(const CountingWriter* counts) {
  static const HeapUsage none;
  return counts != nullptr ? counts->usage() : none;
}

}  // namespace

Recorder::Recorder(RecorderOptions options)
    : options_(std::move(options)),
      clock_start_(TakePair(BestClock())),
      finder_(options_.gauge_directory) {}

Recorder::~Recorder() {
  Stop();
  if (thread_.joinable()) thread_.join();
}

bool Recorder::Start(uint32_t program) {
  program_ = program;
  thread_ = TryThread([this] { Run(); });
  return thread_.joinable();
}

void Recorder::Beat() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Session& session : sessions_) session.recorder->Beat();
}

void Recorder::ProgramEnded(bool exited) {
  const std::lock_guard<std::mutex> lock(mutex_);
  program_exited_ = exited;
  program_ended_ = true;
  changed_.notify_all();
}

void Recorder::Stop() {
  const std::lock_guard<std::mutex> lock(mutex_);
  stop_ = true;
  changed_.notify_all();
}

bool Recorder::WaitFor(uint64_t ns) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, std::chrono::nanoseconds(ns), [this] { return done_; });
  return done_;
}

size_t Recorder::running() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto runs = [this](const Session& session) {
    return !session.finishing &&
           !(program_ended_ && session.process.NumberOf(session.owner) == program_);
  };
  return silent_ + static_cast<size_t>(std::count_if(sessions_.begin(), sessions_.end(), runs));
}

std::string Recorder::PathFor(const Facts& facts, uint32_t process) {
  const RecordingFacts& r = facts.recording;
  if (options_.output.empty()) {
    return FreeName(options_.output_directory + "/" + ProgramName(r) + "." + std::to_string(r.pid));
  }
  if (process == program_) {
    MakeWay();
    return options_.output;
  }
  return FreeName(WithoutSuffix(options_.output) + "." + std::to_string(r.pid));
}

// The process goes on as another program, which is the one that -o means: the trace of the one
// before gets another name.
void Recorder::MakeWay() {
  for (RecordedProcess& one : recorded_) {
    if (one.path != options_.output || one.path.empty()) continue;
    const std::string other =
        FreeName(WithoutSuffix(options_.output) + "." + ProgramName(one.facts.recording));
    if (std::rename(one.path.c_str(), other.c_str()) == 0) one.path = other;
  }
}

bool Recorder::Open(const GaugeOwner& owner, const OwnerProcess& process) {
  const auto now = ReadOwner(owner.path);
  if (!now || !IsSameFile(*now, owner)) {
    finder_.Forget();
    return true;
  }
  for (const Session& session : sessions_) {
    if (IsSameFile(session.owner, owner)) return true;
  }
  std::string path;
  CountingWriter* counts = nullptr;
  std::optional<Error> unwritten;  // why there is no file
  const auto make_writer = [&](const Facts& facts) -> Result<std::unique_ptr<TraceWriter>> {
    EndReplaced(owner, process);
    std::unique_ptr<TraceWriter> file;
    if (options_.writes) {
      path = PathFor(facts, process.NumberOf(owner));
      auto created = TraceWriter::Create(path, facts, {}, path == options_.output);
      if (options_.leaks == nullptr) return created;
      // Leaks can be told without it.
      if (created) {
        file = *std::move(created);
      } else {
        unwritten = created.error();
      }
    }
    auto counting = std::make_unique<CountingWriter>(std::move(file));
    counts = counting.get();
    return counting;
  };
  RecordOptions record = options_.record;
  record.process = process.pid;
  auto recorder = ProcessRecorder::Open(owner.path, clock_start_, record, make_writer);
  if (!recorder) return false;
  if (unwritten) (*recorder)->NotWritten(*unwritten);
  Session session;
  session.counts = counts;
  session.recorder = *std::move(recorder);
  session.owner = owner;
  session.process = process;
  session.end = ProcessEnd(process);
  session.path = std::move(path);
  session.executable = session.recorder->facts().recording.program;
  if (auto gauge = IdentityOf(owner.path)) gauges_.push_back(*std::move(gauge));
  first_start_ticks_ = std::min(first_start_ticks_, owner.process_start_ticks);
  const std::lock_guard<std::mutex> lock(mutex_);
  sessions_.push_back(std::move(session));
  return true;
}

// Another program goes on in the process.
void Recorder::EndReplaced(const GaugeOwner& owner, const OwnerProcess& process) {
  for (size_t i = 0; i < sessions_.size(); ++i) {
    if (!IsSame(sessions_[i].owner, sessions_[i].process, owner, process)) continue;
    Finish(i, RecordingState::kReplaced);
    return;
  }
}

void Recorder::LookForNew(uint64_t now_ns) {
  for (GaugeOwner& owner : finder_.FindNew(program_)) {
    const OwnerProcess process = FindOwnerProcess(owner, options_.leaks != nullptr);
    if (!options_.follow && process.NumberOf(owner) != program_) continue;
    expected_.push_back({std::move(owner), process, now_ns + kExpectedNs});
  }
  size_t kept = 0;
  for (size_t i = 0; i < expected_.size(); ++i) {
    const Expected& expected = expected_[i];
    const bool gone = IsGone(expected.process);  // before we look for the last time
    if (Open(expected.owner, expected.process) || gone || now_ns > expected.until_ns) continue;
    std::swap(expected_[kept++], expected_[i]);
  }
  expected_.resize(kept);
}

void Recorder::Finish(size_t index, RecordingState state) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    sessions_[index].finishing = true;
  }
  ProcessRecorder& recorder = *sessions_[index].recorder;
  recorder.Finish(state, sessions_[index].replaced_ns);
  if (options_.leaks != nullptr) {
    options_.leaks->Ended(&recorder, state, UsageOf(sessions_[index].counts));
  }
  RecordedProcess recorded;
  recorded.pid = recorder.pid();
  recorded.path = sessions_[index].path;
  recorded.facts = recorder.facts();
  recorded.totals = recorder.totals();
  recorded.file_bytes = recorder.file_bytes();
  recorded.damaged = recorder.damaged();
  recorded.error = recorder.error();
  if (!recorded.error && !recorded.path.empty() && access(recorded.path.c_str(), F_OK) != 0) {
    recorded.error = Error{ErrorCode::kIo, "'" + Printable(recorded.path) +
                                               "' was removed or renamed while it was written"};
    recorded.file_bytes = 0;
  }
  recorded.said_goodbye = recorder.has_ended();
  recorded.gave_up = recorder.was_given_up();
  recorded_.push_back(std::move(recorded));
  // All it knew is in the trace now. One that goes on still maps it, and needs its name no more.
  recorder.RemoveGaugeFile();
  const std::lock_guard<std::mutex> lock(mutex_);
  sessions_.erase(sessions_.begin() + static_cast<ptrdiff_t>(index));
}

void Recorder::AnswerQuestion(Session* session) {
  const auto question = session->recorder->question();
  if (!question) return;
  LeakAnswer answer;
  answer.error = ENOSYS;
  if (options_.leaks != nullptr) {
    answer = options_.leaks->Look(session->recorder.get(), *question, UsageOf(session->counts));
  }
  session->recorder->Answer(question->number, answer);
}

// A process that executed a program without the agent in it makes no new file, and that program may
// end soon. This look is cheap; how the executable is called tells too little alone, since its path
// may be seen differently from here.
void Recorder::LookAtExecutable(Session* session, uint64_t now_ns) {
  const uint32_t pid = session->process.pid;
  if (pid == 0 || session->replaced_ns != 0 || now_ns < session->next_executable_ns) return;
  session->next_executable_ns = now_ns + kExecutablePeriod;
  std::string executable = ProcessExecutable(pid);
  if (executable.empty() || executable == session->executable) return;
  session->executable = std::move(executable);
  if (ProcessMapsFile(pid, session->owner.path) == false) {
    session->replaced_ns = now_ns;
  }
}

// How a process came to its end that is no more. Nothing: whoever waits for it will tell soon.
std::optional<RecordingState> Recorder::StateOfGone(const Session& session) {
  if (session.recorder->has_ended()) return RecordingState::kEnded;
  if (session.replaced_ns != 0) return RecordingState::kReplaced;
  if (session.process.NumberOf(session.owner) != program_) {
    const auto status = session.end.wait_status();
    if (!status) return RecordingState::kGone;
    return WIFEXITED(*status) ? RecordingState::kEnded : RecordingState::kKilled;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!program_ended_) return std::nullopt;
  // It left in a way that the agent does not see: daemon() does so in the C library.
  return program_exited_ ? RecordingState::kEnded : RecordingState::kKilled;
}

void Recorder::EndThoseGone(uint64_t now_ns) {
  for (size_t i = sessions_.size(); i-- > 0;) {
    Session& session = sessions_[i];
    if (IsGone(session.process)) {
      if (const auto state = StateOfGone(session)) Finish(i, *state);
      continue;
    }
    // What the executable does not tell shows in that the old file is not mapped any more.
    if (now_ns < session.next_look_ns) continue;
    session.next_look_ns = now_ns + kReplacedPeriod;
    if (now_ns - std::min(now_ns, session.recorder->last_event_ns()) < kReplacedPeriod) continue;
    if (ProcessMapsFile(session.process.pid, session.owner.path) == false) {
      Finish(i, RecordingState::kReplaced);
    }
  }
}

// A child that was forked and has called no allocator since has no file of its own yet, and one
// that is not to be traced never has: a daemon whose parents have gone, for example. It maps the
// file of the one it was forked from.
void Recorder::LookForSilent(uint64_t now_ns) {
  if (now_ns < next_silent_ns_) return;
  next_silent_ns_ = now_ns + kSilentPeriod;
  const size_t silent = ProcessesMapping(gauges_, first_start_ticks_).size();
  const std::lock_guard<std::mutex> lock(mutex_);
  silent_ = silent;
}

// How long to rest after a turn. False if there is reason not to.
bool Recorder::Sleep(size_t bytes, bool pressed, uint64_t* nap_ns) {
  if (pressed && bytes != 0) return false;
  if (bytes != 0 && !pressed) {
    const uint64_t nap = std::min(*nap_ns, kLongestBusyNap);
    *nap_ns = std::clamp(nap * kTurnBytes / bytes, kBusyNap, kLongestBusyNap);
  } else if (pressed || sessions_.empty()) {
    *nap_ns = kBusyNap;
  } else if (*nap_ns < kFirstIdleNap) {
    *nap_ns = *nap_ns == kBusyNap ? 2 * kBusyNap : kFirstIdleNap;
  } else {
    // A program that asks for a check waits for it.
    *nap_ns = std::min(*nap_ns * 2, options_.leaks != nullptr ? kFirstIdleNap : kLongestNap);
  }
  return true;
}

void Recorder::Run() {
  uint64_t nap_ns = kBusyNap;
  uint64_t last_look_ns = 0;
  while (true) {
    bool ended = false;
    bool stop = false;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ended = program_ended_;
      stop = stop_;
    }
    uint64_t now = MonotonicNow();
    // Before the search for files: one of them may make its own in between.
    const size_t recorded = recorded_.size();
    const bool none_left = ended && sessions_.empty() && expected_.empty();
    if (none_left) LookForSilent(now);
    if (now >= next_search_ns_ || ended) {
      LookForNew(now);
      next_search_ns_ = now + (recorded_.empty() && sessions_.empty() ? kFirstSearchPeriod
                               : expected_.empty()                    ? kSearchPeriod
                                                                      : kFirstSearchPeriod);
    }
    size_t bytes = 0;
    bool pressed = false;
    for (Session& session : sessions_) {
      const size_t taken = session.recorder->Work(now);
      bytes += taken;
      if (taken == 0) LookAtExecutable(&session, now);
      AnswerQuestion(&session);
      pressed = pressed || session.recorder->is_pressed();
    }
    now = MonotonicNow();
    if (ended || now >= next_gone_ns_) {
      EndThoseGone(now);
      next_gone_ns_ = now + kGonePeriod;
    }
    if (stop) {
      // All of them at once: none is to wait while others are completed.
      for (Session& session : sessions_) session.recorder->Stop();
      while (!sessions_.empty()) Finish(sessions_.size() - 1, RecordingState::kSnapshot);
    }
    if (stop) break;
    if (!none_left || !sessions_.empty() || !expected_.empty() || recorded_.size() != recorded) {
      next_silent_ns_ = 0;  // whose children they are was not all known then
      last_look_ns = 0;
      const std::lock_guard<std::mutex> lock(mutex_);
      silent_ = 0;
    } else if (silent_ == 0 || !options_.follow_fork) {
      // A child may be about to execute its program.
      if (last_look_ns == 0) last_look_ns = now + kLastLookNs;
      if (now >= last_look_ns) break;
    }
    if (!Sleep(bytes, pressed, &nap_ns)) continue;
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, std::chrono::nanoseconds(nap_ns),
                      [&] { return stop_ || program_ended_ != ended; });
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  done_ = true;
  changed_.notify_all();
}

}  // namespace heapgauge::trace
