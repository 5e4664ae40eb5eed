#include "core/leaks/capture/picture.h"

#include <errno.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "core/base/threads.h"
#include "core/leaks/capture/process_copy.h"
#include "core/leaks/capture/remote_call.h"
#include "core/leaks/capture/saved_memory.h"
#include "core/leaks/capture/stopped_process.h"
#include "core/os/proc_fields.h"
#include "core/os/process.h"

namespace heapgauge::leaks {
namespace {

// A process that is killed loses its memory before it shows as ended, and may be about to while the
// signal is pending.
bool HasMemory(pid_t process) {
  const std::string status = ReadStatus(fmt::format("/proc/{}", process));
  if (StatusField(status, "VmSize").empty()) return false;
  for (const char* const signals : {"SigPnd", "ShdPnd"}) {
    const uint64_t pending = std::strtoull(StatusField(status, signals).c_str(), nullptr, 16);
    if ((pending >> (SIGKILL - 1) & 1) != 0) return false;
  }
  return true;
}

std::vector<CapturedThread> ThreadsOf(std::vector<StoppedThread>& stopped) {
  std::vector<CapturedThread> threads;
  threads.reserve(stopped.size());
  for (const StoppedThread& thread : stopped) {
    CapturedThread captured;
    captured.id = static_cast<uint32_t>(thread.id);
    captured.stack_pointer = thread.stack_pointer;
    if (thread.stopped) {
      captured.thread_pointer = ThreadPointerOf(thread.registers);
      for (const NamedRegister& r : GeneralRegisters(thread.registers)) {
        captured.registers.push_back({r.value, captured.id, r.name});
      }
    }
    threads.push_back(std::move(captured));
  }
  return threads;
}

}  // namespace

// The thread that all of ptrace is done by.
class Picture::Tracer {
 public:
  Status Start(pid_t process, const PictureOptions& options) {
    {
      const BlockedSignals blocked;
      thread_ = TryThread([this, process, &options] { Run(process, options); });
    }
    if (!thread_.joinable()) {
      return Fail(ErrorCode::kUnavailable, "no thread could be started for the picture");
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return taken_; });
    if (error_.message.empty()) return {};
    return tl::unexpected(error_);
  }

  ~Tracer() { Release(); }

  void Release() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      released_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  // `work` is done by the thread that traces.
  void Ask(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      work_ = std::move(work);
    }
    changed_.notify_all();
  }
  void WaitForWork() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !work_; });
  }
  bool PrepareSearch(const SearchingCopy::Means& means) {
    if (look != Look::kCopy) return false;
    if (!prepared_) {
      Ask([this, means] { can_search_ = searching_.Prepare(means); });
      WaitForWork();
      prepared_ = true;
    }
    return can_search_;
  }
  SearchingCopy* searching() { return &searching_; }

  uint32_t memory_process = 0;
  Look look = Look::kNone;
  std::vector<CapturedThread> threads;
  uint64_t pause_ns = 0;
  std::vector<std::string> notes;

 private:
  void Run(pid_t process, const PictureOptions& options) {
    // A whole program waits for this thread. Not all users may do so.
    setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), -20);
    StoppedProcess stopped;
    ProcessCopy copy;
    Status status = Take(process, options, &stopped, &copy);
    {
      const std::lock_guard lock(mutex_);
      if (!status) error_ = status.error();
      taken_ = true;
    }
    changed_.notify_all();
    // A copy that there may be ends with this. When this thread ends, the kernel lets go of
    // whatever is left.
    if (!status) return;
    WaitForRelease(&stopped);
    if (look == Look::kInPlace) {
      stopped.LetAllGo();
      pause_ns = stopped.stood_still_ns();
      return;
    }
    const auto second_pause = copy.End();
    if (second_pause) {
      pause_ns += *second_pause;
    } else {
      notes.push_back("the copy of the program stays as a zombie until the program ends: " +
                      second_pause.error().message);
    }
  }

  Status Take(pid_t process, const PictureOptions& options, StoppedProcess* stopped,
              ProcessCopy* copy) {
    std::string why_no_copy = options.in_place ? "" : WhyNoCalls(process, process);
    if (!options.in_place && why_no_copy.empty()) {
      site_ = FindCallSiteOf(process);
      if (!site_.complete()) why_no_copy = "its C library is not one that is known";
    }
    if (!why_no_copy.empty() && !options.may_look_in_place) {
      return Fail(ErrorCode::kUnsupported,
                  fmt::format("process {} cannot be copied: {}", process, why_no_copy));
    }
    HG_TRY(stopped->Stop(process));
    threads = ThreadsOf(stopped->threads());
    for (const StoppedThread& thread : stopped->threads()) {
      if (!thread.stopped) {
        notes.push_back(fmt::format(
            "thread {} waits in the kernel and could not be stopped: its registers are not known",
            thread.id));
      }
    }
    bool copied = false;
    if (!options.in_place && why_no_copy.empty()) {
      const Status forked = copy->Fork(stopped, site_);
      copied = forked.has_value();
      if (!copied) why_no_copy = forked.error().message;
      // It is not known what became of the call; the process is let go as it is.
      if (!copied && forked.error().code == ErrorCode::kUnavailable) return forked;
    }
    if (options.while_stopped) options.while_stopped();
    if (copied) {
      stopped->LetAllGo();
      pause_ns = stopped->stood_still_ns();
      look = Look::kCopy;
      HG_TRY(copy->Settle());
      if (searching_.Attach(copy->id(), site_)) searching_.CloseFiles();
      memory_process = static_cast<uint32_t>(copy->id());
      return {};
    }
    if (!options.in_place && !options.may_look_in_place) {
      return Fail(ErrorCode::kUnsupported,
                  fmt::format("process {} cannot be copied: {}", process, why_no_copy));
    }
    if (!options.in_place && !options.may_wait) {
      notes.push_back(
          "the program could not be copied, and stood still while its memory was searched: " +
          why_no_copy);
    }
    memory_process = static_cast<uint32_t>(process);
    if (options.save_to == nullptr) {
      look = Look::kInPlace;
      return {};
    }
    look = Look::kSaved;
    const Status saved = options.save_to->Save();
    stopped->LetAllGo();
    pause_ns = stopped->stood_still_ns();
    return saved;
  }

  void WaitForRelease(StoppedProcess* stopped) {
    std::unique_lock lock(mutex_);
    const auto called = [this] { return released_ || work_; };
    // Threads that waited in the kernel stop when they come out of it: not for long.
    bool all_free = look == Look::kInPlace;
    while (!released_) {
      all_free = all_free || stopped->LetStragglersGo();
      if (all_free) {
        changed_.wait(lock, called);
      } else {
        changed_.wait_for(lock, std::chrono::milliseconds(1), called);
      }
      if (!work_) continue;
      lock.unlock();
      work_();
      lock.lock();
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool taken_ = false;
  bool released_ = false;
  std::function<void()> work_;  // that is asked for, until it is done
  Error error_;
  CallSite site_;
  SearchingCopy searching_;
  bool prepared_ = false;
  bool can_search_ = false;
};

Picture::Picture(std::unique_ptr<Tracer> tracer) : tracer_(std::move(tracer)) {}
Picture::~Picture() = default;

Result<std::unique_ptr<Picture>> Picture::Take(uint32_t process, const PictureOptions& options) {
  auto tracer = std::make_unique<Tracer>();
  HG_TRY(tracer->Start(static_cast<pid_t>(process), options));
  return std::unique_ptr<Picture>(new Picture(std::move(tracer)));
}

uint32_t Picture::memory_process() const { return tracer_->memory_process; }
Look Picture::look() const { return tracer_->look; }
const std::vector<CapturedThread>& Picture::threads() const { return tracer_->threads; }
bool Picture::PrepareSearch(const SearchingCopy::Means& means) {
  return tracer_->PrepareSearch(means);
}
void Picture::AskCopy(std::function<void(SearchingCopy*)> work) {
  tracer_->Ask([this, work = std::move(work)] { work(tracer_->searching()); });
}
void Picture::WaitForCopy() { tracer_->WaitForWork(); }
bool Picture::intact() const {
  if (tracer_->look != Look::kCopy) return true;
  const auto copy = static_cast<pid_t>(tracer_->memory_process);
  const char state = StateOf(copy, copy);
  return state != '\0' && state != 'Z' && state != 'X' && HasMemory(copy);
}
void Picture::Release() { tracer_->Release(); }
uint64_t Picture::pause_ns() const { return tracer_->pause_ns; }
const std::vector<std::string>& Picture::notes() const { return tracer_->notes; }

namespace {

constexpr uint64_t kMostSpan = uint64_t{31} << 30;  // that places can tell
// What the code looks at together.
constexpr uint64_t kTogether = 128;
constexpr uint64_t kSearchedPage = 4096;

uint64_t ClockNow(clockid_t clock) {
  timespec now{};
  if (clock_gettime(clock, &now) != 0) return 0;
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

CopySearch::CopySearch(Picture* picture, const MemoryImage& image, std::vector<AddressRange> ranges,
                       uint64_t low, uint64_t span)
    : picture_(picture), image_(image), ranges_(std::move(ranges)), low_(low), span_(span) {
  picture_->AskCopy([this](SearchingCopy* copy) { Work(copy); });
}

CopySearch::~CopySearch() { picture_->WaitForCopy(); }

bool CopySearch::Next(Found* found) {
  picture_->WaitForCopy();
  const Piece& piece = pieces_[filling_];
  const bool last = ended_;
  if (piece.count == 0 && last) return false;
  *found = {piece.values, piece.places, piece.count, piece.base};
  filling_ = 1 - filling_;
  pieces_[filling_].count = 0;
  if (!last) picture_->AskCopy([this](SearchingCopy* copy) { Work(copy); });
  return true;
}

void CopySearch::Work(SearchingCopy* copy) {
  clockid_t copy_clock{};
  const bool has_clock =
      clock_getcpuclockid(static_cast<pid_t>(picture_->memory_process()), &copy_clock) == 0;
  const uint64_t own = ClockNow(CLOCK_THREAD_CPUTIME_ID);
  const uint64_t theirs = has_clock ? ClockNow(copy_clock) : 0;
  Fill(copy);
  cpu_ns_ += ClockNow(CLOCK_THREAD_CPUTIME_ID) - own;
  if (has_clock) cpu_ns_ += ClockNow(copy_clock) - theirs;
}

void CopySearch::Fill(SearchingCopy* copy) {
  Piece& piece = pieces_[filling_];
  if (first_ == last_) {
    if (first_ == ranges_.size()) {
      ended_ = true;
      return;
    }
    piece.base = ranges_[first_].start;
    while (last_ < ranges_.size() && last_ - first_ < SearchingCopy::kMostRanges &&
           ranges_[last_].end - piece.base <= kMostSpan) {
      searched_bytes_ += ranges_[last_].size();
      ++last_;
    }
    const std::vector<AddressRange> now(ranges_.begin() + static_cast<ptrdiff_t>(first_),
                                        ranges_.begin() + static_cast<ptrdiff_t>(last_));
    if (!copy->Begin(now, piece.base, low_, span_)) {
      ended_ = failed_ = true;
      return;
    }
    pieces_[1 - filling_].base = piece.base;
  }
  piece.values = copy->values(filling_);
  piece.places = copy->places(filling_);
  const SearchingCopy::Result result = copy->Run(filling_, &piece.count);
  switch (result.stop) {
    case SearchingCopy::Stop::kDone:
      first_ = last_;
      return;
    case SearchingCopy::Stop::kFull:
      return;
    case SearchingCopy::Stop::kUnreadable: {
      const AddressRange& range = ranges_[first_ + result.range];
      const uint64_t to = std::min(
          range.end, ((result.address + kTogether - 1) / kSearchedPage + 1) * kSearchedPage);
      ReadPart(result.address, to, &piece);
      const uint64_t next = to == range.end ? to : image_.NextReadable(to - 1, range.end);
      const uint64_t aligned = std::min(range.end, (next + 7) & ~uint64_t{7});
      unreadable_bytes_ += aligned - to;
      copy->SkipTo(aligned);
      return;
    }
    case SearchingCopy::Stop::kGone:
      break;
  }
  ended_ = failed_ = true;
}

// Where the copy cannot look at some words together, as one of them is not there.
void CopySearch::ReadPart(uint64_t from, uint64_t to, Piece* piece) {
  uint64_t words[SearchingCopy::kMoreWords];
  static_assert(sizeof words >= 2 * kSearchedPage);
  uint64_t at = from;
  while (at < to) {
    const size_t got = image_.Read(at, static_cast<size_t>(to - at), words) & ~size_t{7};
    for (size_t i = 0; i < got / 8; ++i) {
      if (words[i] - low_ >= span_) continue;
      piece->values[piece->count] = words[i];
      piece->places[piece->count++] = static_cast<uint32_t>((at - piece->base) / 8 + i);
    }
    at += got;
    if (at >= to) break;
    const uint64_t next = std::max(at + 8, image_.NextReadable(at, to) & ~uint64_t{7});
    unreadable_bytes_ += std::min(next, to) - at;
    at = next;
  }
}

CopyImage::CopyImage(Picture* picture)
    : ProcessMemoryImage(picture->memory_process()), picture_(picture) {}

std::unique_ptr<WordSearch> CopyImage::Search(std::vector<AddressRange> ranges, uint64_t low,
                                              uint64_t span) const {
  if (!picture_->PrepareSearch()) return nullptr;
  return std::make_unique<CopySearch>(picture_, *this, std::move(ranges), low, span);
}

}  // namespace heapgauge::leaks
