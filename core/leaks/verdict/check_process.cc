#include "core/leaks/verdict/check_process.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/file.h"
#include "core/gauge/gauge_facts.h"
#include "core/gauge/gauge_layout.h"
#include "core/leaks/capture/agent_copy.h"
#include "core/leaks/capture/epoll_pointers.h"
#include "core/leaks/capture/picture.h"
#include "core/leaks/capture/saved_memory.h"
#include "core/leaks/capture/stopped_process.h"
#include "core/leaks/capture/uncopied_memory.h"
#include "core/leaks/verdict/check_file.h"
#include "core/leaks/verdict/sampled_blocks.h"
#include "core/leaks/verdict/search_memory.h"
#include "core/leaks/verdict/traced_blocks.h"
#include "core/os/proc_fields.h"
#include "core/os/process.h"
#include "core/os/process_memory.h"
#include "core/trace/file/live_trace.h"

namespace heapgauge::leaks {
namespace {

// The samples of the gauge file, where the caller brings no blocks.
class SampledSource {
 public:
  static Result<SampledSource> Open(const std::string& path) {
    HG_ASSIGN(File file, File::OpenForReading(path));
    return SampledSource(std::move(file), path);
  }
  void Copy(uint64_t born_before) { records_ = LiveRecords::Copy(file_, born_before); }
  Result<KnownBlocks> Read() {
    if (!records_) return Fail(ErrorCode::kUnavailable, "the live blocks were not read");
    HG_TRY(*records_);
    return SampledBlocks(path_, **records_);
  }

 private:
  SampledSource(File file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  File file_;
  std::string path_;
  std::optional<Result<LiveRecords>> records_;
};

std::string JoinedArguments(std::string text) {
  while (!text.empty() && text.back() == '\0') text.pop_back();
  for (char& c : text) {
    if (c == '\0') c = ' ';
  }
  return text;
}

void DescribeProgram(uint32_t pid, Check* check) {
  check->pid = pid;
  check->executable = ProcessExecutable(pid);
  if (auto line = ReadWholeFile(ProcessDirectory(pid) + "/cmdline", 16384)) {
    check->command_line = JoinedArguments(*std::move(line));
  }
  check->unix_ns = RealtimeNow();
}

void TakeTotals(const std::string& gauge_path, Check* check) {
  const auto file = File::OpenForReading(gauge_path);
  if (!file) return;
  const auto layout = GaugeLayout::Read(*file, gauge_path);
  if (!layout) return;
  const wire::Totals& totals = layout->header().totals;
  check->allocations = totals.allocated_objects;
  check->frees = totals.freed_objects;
  check->allocated_bytes = totals.allocated_bytes;
}

Error CopyHasEnded() {
  return {ErrorCode::kUnavailable, "the copy of the program ended before its memory was read"};
}

// What one way failed by, and then another one.
Error Both(const Error& first, const Error& then) {
  return {then.code, first.message + "; " + then.message};
}

// Only one can trace a program at a time. Another check does so for some milliseconds as a rule, or
// for seconds if it may.
constexpr uint64_t kLongestForOthersNs = 10'000'000'000;

// As Picture::Take(), once another check that holds the program has let it go.
Result<std::unique_ptr<Picture>> TakeInTurn(uint32_t pid, const PictureOptions& how) {
  const uint64_t begin_ns = MonotonicNow();
  while (true) {
    auto picture = Picture::Take(pid, how);
    if (picture || picture.error().code != ErrorCode::kHeld ||
        MonotonicNow() - begin_ns > kLongestForOthersNs) {
      return picture;
    }
    // A holder without a name has ended, and so let go, since.
    const std::string holder = TaskName("/proc/" + std::to_string(picture.error().holder));
    if (!holder.empty() && !holder.starts_with("heapgauge")) return picture;
    do {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    } while (IsTracedByACheck(static_cast<pid_t>(pid)) &&
             MonotonicNow() - begin_ns <= kLongestForOthersNs);
  }
}

// Nobody stops the program when its agent copies it. A block that is younger than this may be known
// to a register alone, and those of other threads are not seen.
constexpr uint64_t kSettlingNs = 5'000'000;

// What both ways of looking have in common.
class ProcessCheck {
 public:
  ProcessCheck(uint32_t pid, const CheckOptions& options) : pid_(pid), options_(options) {}

  Status Begin() {
    DescribeProgram(pid_, &check_);
    if (!options_.gauge_path.empty()) {
      if (auto memory = ReadGaugeMemory(options_.gauge_path)) {
        gauge_ = *std::move(memory);
      } else {
        check_.notes.push_back(memory.error().message);
      }
    }
    if (options_.known_blocks) return {};
    HG_ASSIGN(samples_, SampledSource::Open(options_.gauge_path));
    return {};
  }

  // `born_before`: younger blocks are not in the picture (CLOCK_MONOTONIC); 0 if all are.
  void TakeWhileStopped(uint64_t born_before = 0) {
    if (samples_) {
      samples_->Copy(born_before);
    } else if (options_.while_stopped) {
      options_.while_stopped();
    }
  }

  Result<Check> LookByTracing(PictureOptions how) {
    how.while_stopped = [this] { TakeWhileStopped(); };
    UncopiedMemory uncopied(pid_);
    EpollPointers epoll(pid_);
    HG_ASSIGN(const std::unique_ptr<Picture> picture, TakeInTurn(pid_, how));
    epoll.ReadAgain();
    if (picture->look() == Look::kCopy) uncopied.ReadMissing(picture->memory_process());
    check_.look = picture->look();
    check_.threads = static_cast<uint32_t>(picture->threads().size());
    CopyImage image(picture.get());
    HG_TRY(Search(
        image, picture->memory_process(), picture->threads(), true, &uncopied, epoll,
        [&](std::vector<AddressRange> readable) { image.SetReadable(std::move(readable)); }));
    if (!picture->intact()) return tl::unexpected(CopyHasEnded());
    picture->Release();
    check_.pause_ns = picture->pause_ns();
    for (const std::string& note : picture->notes()) check_.notes.push_back(note);
    return std::move(check_);
  }

  // `why`: no copy could be made.
  Result<Check> LookAtSaved(const Error& why) {
    auto saved = SavedMemory::Prepare(pid_, options_.may_stop_ns);
    if (!saved) return tl::unexpected(Both(why, saved.error()));
    PictureOptions how;
    how.in_place = true;
    how.save_to = saved->get();
    how.while_stopped = [this] { TakeWhileStopped(); };
    UncopiedMemory uncopied(pid_);
    EpollPointers epoll(pid_);
    const auto picture = TakeInTurn(pid_, how);
    if (!picture) return tl::unexpected(Both(why, picture.error()));
    (*picture)->Release();
    epoll.ReadAgain();
    check_.look = (*picture)->look();
    check_.threads = static_cast<uint32_t>((*picture)->threads().size());
    check_.pause_ns = (*picture)->pause_ns();
    saved_ = saved->get();
    HG_TRY(Search(**saved, pid_, (*picture)->threads(), true, &uncopied, epoll,
                  [&](std::vector<AddressRange> ranges) { (*saved)->SetReadable(ranges); }));
    check_.notes.push_back(
        "the program could not be copied, and stood still while its memory was read: " +
        why.message);
    for (const std::string& note : (*picture)->notes()) check_.notes.push_back(note);
    return std::move(check_);
  }

  Result<Check> LookByAgent() {
    UncopiedMemory uncopied(pid_);
    EpollPointers epoll(pid_);
    HG_ASSIGN(const std::unique_ptr<AgentCopy> copy,
              AgentCopy::Ask(pid_, options_.gauge_path, options_.agent));
    epoll.ReadAgain();
    TakeWhileStopped(copy->asked_ns() - std::min(copy->asked_ns() - 1, kSettlingNs));
    uncopied.ReadMissing(copy->memory_process());
    check_.look = Look::kOwnCopy;
    const auto status = ReadProcessStatus(ProcessDirectory(pid_));
    check_.threads = status ? status->threads : 0;
    HG_TRY(Search(copy->image(), copy->memory_process(), copy->threads(), false, &uncopied, epoll));
    if (!copy->alive()) return tl::unexpected(CopyHasEnded());
    check_.pause_ns = copy->pause_ns();
    check_.notes.push_back(
        "the program may not be traced, so its agent copied it while other threads went on: "
        "stacks were searched whole, and blocks that were moved just then may seem lost");
    return std::move(check_);
  }

 private:
  // `tell` as in MemorySearch.
  Status Search(const MemoryImage& image, uint32_t process,
                const std::vector<CapturedThread>& threads, bool threads_known,
                UncopiedMemory* uncopied, const EpollPointers& epoll,
                std::function<void(std::vector<AddressRange>)> tell = nullptr) {
    HG_ASSIGN(check_.known, samples_ ? samples_->Read() : options_.known_blocks());
    RootsInput input;
    input.process = process;
    input.program = pid_;
    input.threads = &threads;
    input.threads_known = threads_known;
    input.saved = saved_;
    if (gauge_) input.gauge = &*gauge_;
    // Where all blocks are known the rest of the heap does not matter.
    input.without_free = !check_.known.exact;
    HG_TRY(SearchMemory({image, *uncopied, epoll, input, options_.scan, std::move(tell), nullptr,
                         options_.with_memory},
                        &check_));
    if (!check_.known.exact && !options_.gauge_path.empty())
      TakeTotals(options_.gauge_path, &check_);
    return {};
  }

  uint32_t pid_;
  const CheckOptions& options_;
  Check check_;
  std::optional<GaugeMemory> gauge_;
  std::optional<SampledSource> samples_;
  const SavedMemory* saved_ = nullptr;
};

// By the trace that is written of it: its samples tell nothing. It must be stopped by us, so that
// the moment is known to the microsecond.
Result<Check> CheckTraced(uint32_t pid, uint64_t start_ns, CheckOptions options) {
  HG_ASSIGN(const std::unique_ptr<RecordedBlocks> recorded,
            RecordedBlocks::Find(pid, options.gauge_path, start_ns));
  options.while_stopped = [&] { recorded->Mark(); };
  options.known_blocks = [&] {
    if (options.scan.progress != nullptr) {
      options.scan.progress->Report("waiting for the trace to get this far", 0, 0, "");
    }
    return recorded->Read();
  };
  ProcessCheck process(pid, options);
  HG_TRY(process.Begin());
  PictureOptions how;
  how.may_look_in_place = false;
  auto check = process.LookByTracing(how);
  if (!check && check.error().code == ErrorCode::kUnsupported) {
    check = process.LookAtSaved(check.error());
  }
  if (check) SetTracedTotals(&*check);
  return check;
}

}  // namespace

Result<Check> CheckProcess(uint32_t pid, const CheckOptions& options) {
  if (!options.known_blocks) {
    if (const auto since_ns = trace::TracedSince(options.gauge_path)) {
      return CheckTraced(pid, *since_ns, options);
    }
  }
  ProcessCheck check(pid, options);
  HG_TRY(check.Begin());
  PictureOptions how;
  how.may_look_in_place = false;
  Error why;
  if (options.may_trace) {
    auto traced = check.LookByTracing(how);
    if (traced || traced.error().code == ErrorCode::kNotFound) return traced;
    why = traced.error();
  }
  // It may not be traced, or not be made to fork: its agent can do both in its own name. That one
  // knows if the program has a filter that would not let it.
  if (!options.gauge_path.empty()) {
    auto own = check.LookByAgent();
    if (own || !options.may_trace) return own;
    why.message += "; " + own.error().message;
  }
  // It can be stopped, if for not too long.
  if (why.code != ErrorCode::kUnsupported) return tl::unexpected(why);
  return check.LookAtSaved(why);
}

}  // namespace heapgauge::leaks
