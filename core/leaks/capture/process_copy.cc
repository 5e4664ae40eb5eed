#include "core/leaks/capture/process_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/file.h"
#include "core/leaks/capture/remote_call.h"
#include "core/leaks/capture/stopped_process.h"
#include "core/os/proc_fields.h"
#include "core/os/process.h"

namespace heapgauge::leaks {
namespace {

constexpr uint64_t kLongestNs = 20'000'000'000;
constexpr size_t kMaxTries = 16;
constexpr const char* kNoCaller =
    "every thread is on a stack that the program made itself, as for coroutines, and how much room "
    "that has is not known";

// When memory is short the copy is to go first. It is also a mark by which it is known when it is
// dead and we were, too.
constexpr std::string_view kFirstToGo = "1000";

std::string OomScorePath(pid_t process) { return fmt::format("/proc/{}/oom_score_adj", process); }

void OfferToOomKiller(pid_t process) {
  const int fd = open(OomScorePath(process).c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  // It stays as it is where that is not permitted.
  [[maybe_unused]] const ssize_t written = write(fd, kFirstToGo.data(), kFirstToGo.size());
  close(fd);
}

bool IsOffered(pid_t process) {
  const auto score = ReadWholeFile(OomScorePath(process), 16);
  return score && score->starts_with(kFirstToGo);
}

// Whether a dead process with all signals blocked, even those that C libraries keep for themselves,
// ended as a copy does when nobody is there to trace it.
bool EndedUntraced(const std::string& stat, const std::string& status) {
  constexpr uint64_t kNeverBlocked = uint64_t{1} << (SIGKILL - 1) | uint64_t{1} << (SIGSTOP - 1);
  const uint64_t blocked = std::strtoull(StatusField(status, "SigBlk").c_str(), nullptr, 16);
  return (blocked | kNeverBlocked) == ~uint64_t{0} && StatField(stat, 52) == kUntracedExitStatus
                                                                                 << 8;
}

// A dead copy that somebody left who was killed: it sends no signal, and has our mark; or it was
// not marked yet. Its number as the process itself knows it, 0 if it is none.
long AbandonedCopy(pid_t child, bool marks_tell) {
  const std::string stat = ReadStat(fmt::format("/proc/{}", child));
  const std::string status = ReadStatus(fmt::format("/proc/{}", child));
  if (status.empty() || StatState(stat) != 'Z' || StatField(stat, 38) != 0) return 0;
  if (!(marks_tell && IsOffered(child)) && !EndedUntraced(stat, status)) return 0;
  const uint32_t inside = InnermostPid(status);
  return inside != 0 ? static_cast<long>(inside) : child;
}

// Some threads of the process, `first` before the others if it is still one.
std::vector<pid_t> SomeThreads(pid_t process, pid_t first) {
  std::vector<pid_t> threads;
  if (StateOf(process, first) != 0) threads.push_back(first);
  const auto tasks = NumbersIn(fmt::format("/proc/{}/task", process));
  for (const uint32_t id : tasks.value_or(std::vector<uint32_t>())) {
    if (static_cast<pid_t>(id) != first) threads.push_back(static_cast<pid_t>(id));
    if (threads.size() >= kMaxTries) break;
  }
  return threads;
}

}  // namespace

Status ProcessCopy::Fork(StoppedProcess* process, const CallSite& site) {
  site_ = site;
  parent_ = process->process();
  std::string why = kNoCaller;
  for (const Caller& caller : FindCallers(process)) {
    const auto result = CallIn(parent_, caller, site, ForkCall());
    if (!result && result.error().code == ErrorCode::kUnsupported) {
      why = result.error().message;
      continue;
    }
    if (!result) return tl::unexpected(result.error());
    if (result->value < 0 || result->child == 0) {
      return Fail(ErrorCode::kUnsupported,
                  fmt::format("the kernel refuses to copy process {}: {}", parent_,
                              std::strerror(static_cast<int>(-result->value))));
    }
    caller_ = caller.thread->id;
    id_ = result->child;
    id_inside_ = result->value;
    OfferToOomKiller(id_);
    return {};
  }
  return Fail(ErrorCode::kUnsupported, why);
}

Status ProcessCopy::Settle() {
  const StopState state = WaitForStop(id_, MonotonicNow() + kLongestNs);
  if (state.kind != StopKind::kTrap && state.kind != StopKind::kGroupStop) {
    return Fail(ErrorCode::kUnavailable, fmt::format("the copy {} has ended", id_));
  }
  if (ptrace(PTRACE_SETOPTIONS, id_, nullptr, PTRACE_O_EXITKILL) != 0) {
    return Fail(ErrorCode::kUnavailable, fmt::format("the copy {} has ended", id_));
  }
  return {};
}

Result<uint64_t> ProcessCopy::End() {
  if (id_ == 0) return 0;
  // Nobody can have taken its number as long as it is ours to wait for.
  siginfo_t info{};
  const int flags = WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL;
  if (waitid(P_PID, static_cast<id_t>(id_), &info, flags) == 0) {
    kill(id_, SIGKILL);
    while (waitpid(id_, nullptr, __WALL) < 0 && errno == EINTR) {
    }
  }
  return Reap(std::exchange(id_, 0));
}

// Before the stop, since it takes a while.
void ProcessCopy::FindAbandoned() {
  // Children have what their parent has.
  const bool marks_tell = !IsOffered(parent_);
  for (const pid_t thread : SomeThreads(parent_, caller_)) {
    for (const uint32_t child : ChildrenOf(fmt::format("/proc/{}/task/{}", parent_, thread))) {
      if (abandoned_.size() >= kMaxTries) return;
      if (const long inside = AbandonedCopy(static_cast<pid_t>(child), marks_tell)) {
        if (inside != id_inside_) abandoned_.push_back(inside);
      }
    }
  }
}

Status ProcessCopy::ReapBy(StoppedProcess* stopped) {
  std::vector<long> children = {id_inside_};
  children.insert(children.end(), abandoned_.begin(), abandoned_.end());
  for (const long child : children) {
    // Anew: with its signals given back, the thread may have begun to handle one.
    const std::vector<Caller> callers = FindCallers(stopped);
    if (callers.empty()) return Fail(ErrorCode::kUnsupported, kNoCaller);
    HG_TRY(CallIn(parent_, callers[0], site_, ReapCall(static_cast<uint64_t>(child))));
  }
  return {};
}

Result<uint64_t> ProcessCopy::Reap(pid_t copy) {
  // If its parent has ended it is another's child already; and that number may be another's too.
  const auto info = ReadProcess(static_cast<uint32_t>(copy));
  if (!info || !info->ended() || info->parent != static_cast<uint32_t>(parent_)) return 0;
  if (!HasCallSite(parent_, site_)) site_ = FindCallSiteOf(parent_);
  FindAbandoned();
  Error last{ErrorCode::kUnavailable, "no thread could be stopped"};
  for (const pid_t thread : SomeThreads(parent_, caller_)) {
    StoppedProcess stopped;
    if (auto status = stopped.StopOne(parent_, thread); !status) {
      if (status.error().code == ErrorCode::kNotFound) return 0;
      last = status.error();
      continue;
    }
    const Status reaped = ReapBy(&stopped);
    stopped.LetAllGo();
    if (reaped) return stopped.stood_still_ns();
    last = reaped.error();
    if (last.code != ErrorCode::kUnsupported) break;
  }
  return tl::unexpected(last);
}

}  // namespace heapgauge::leaks
