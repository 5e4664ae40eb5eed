#include "core/leaks/capture/agent_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/gauge/gauge_layout.h"
#include "core/leaks/capture/process_memory_image.h"
#include "core/os/proc_fields.h"
#include "core/os/process.h"

namespace heapgauge::leaks {
namespace {

constexpr size_t kPart = 1 << 20;
constexpr int kWaitMs = 5'000;

// A pipe of our own, whatever was there before. Both ends are ours, so that opening it never waits.
Result<int> MakePipe(const std::string& path, uid_t user) {
  unlink(path.c_str());
  const auto failed = [&](int error) {
    return tl::unexpected(SystemError("cannot make '" + Printable(path) + "'", error));
  };
  if (mkfifo(path.c_str(), 0600) != 0) return failed(errno);
  const int fd = open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  const bool is_theirs =
      fd >= 0 && (user == geteuid() || fchown(fd, user, static_cast<gid_t>(-1)) == 0);
  if (!is_theirs) {
    const int error = errno;
    if (fd >= 0) close(fd);
    unlink(path.c_str());
    return failed(error);
  }
  // Larger pipes need fewer turns.
  fcntl(fd, F_SETPIPE_SZ, 1 << 20);
  return fd;
}

bool ReadAll(int fd, char* to, size_t size) {
  while (size > 0) {
    pollfd wait{fd, POLLIN, 0};
    const int ready = poll(&wait, 1, kWaitMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready != 1) return false;
    const ssize_t got = read(fd, to, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<ServedMemoryImage>> ServedMemoryImage::Open(const std::string& path,
                                                                   uid_t user) {
  std::unique_ptr<ServedMemoryImage> image(new ServedMemoryImage);
  image->ask_path_ = path + ".ask";
  image->say_path_ = path + ".say";
  // The copy looks for the first one first.
  HG_ASSIGN(image->say_, MakePipe(image->say_path_, user));
  HG_ASSIGN(image->ask_, MakePipe(image->ask_path_, user));
  return image;
}

ServedMemoryImage::~ServedMemoryImage() {
  if (ask_ >= 0) {
    close(ask_);
    unlink(ask_path_.c_str());
  }
  if (say_ >= 0) {
    close(say_);
    unlink(say_path_.c_str());
  }
}

size_t ServedMemoryImage::ReadPart(uint64_t address, size_t size, char* to) const {
  const uint64_t question[2] = {address, size};
  uint64_t bytes = 0;
  if (write(ask_, question, sizeof question) != sizeof question ||
      !ReadAll(say_, reinterpret_cast<char*>(&bytes), sizeof bytes) || bytes > size ||
      !ReadAll(say_, to, bytes)) {
    // It is not known any more where an answer begins.
    broken_ = true;
    return 0;
  }
  return bytes;
}

size_t ServedMemoryImage::Read(uint64_t address, size_t size, void* to) const {
  const std::lock_guard lock(mutex_);
  size_t done = 0;
  while (done < size && !broken_) {
    const size_t part = std::min(size - done, kPart);
    const size_t got = ReadPart(address + done, part, static_cast<char*>(to) + done);
    done += got;
    if (got < part) break;
  }
  return done;
}

namespace {

constexpr size_t kWords = offsetof(wire::Header, leaks);
constexpr size_t kGeneration =
    offsetof(wire::Header, control) + offsetof(wire::Control, generation);
constexpr uint32_t kFirstVersion = 5;

template <typename T>
bool ReadWord(const File& file, size_t offset, T* value) {
  return file.ReadAt(offset, value, sizeof *value) == sizeof *value;
}

// In the units of ProcessInfo::start_ticks.
uint64_t TicksNow() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const auto ticks = static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
  return static_cast<uint64_t>(now.tv_sec) * ticks +
         static_cast<uint64_t>(now.tv_nsec) * ticks / 1'000'000'000;
}

// Holds back what would end this process, as Ctrl-C does, for a scope: nobody could take a request
// back any more. Signals that are handled or ignored are left alone.
class HeldBackEnd {
 public:
  HeldBackEnd() {
    sigemptyset(&held_);
    pthread_sigmask(SIG_BLOCK, nullptr, &before_);
    for (const int signal : kEnds) {
      struct sigaction action {};
      if (sigismember(&before_, signal) == 0 && sigaction(signal, nullptr, &action) == 0 &&
          action.sa_handler == SIG_DFL) {
        sigaddset(&held_, signal);
      }
    }
    pthread_sigmask(SIG_BLOCK, &held_, nullptr);
  }
  ~HeldBackEnd() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldBackEnd(const HeldBackEnd&) = delete;
  HeldBackEnd& operator=(const HeldBackEnd&) = delete;

  // One of them has come.
  bool due() const {
    sigset_t pending;
    sigpending(&pending);
    for (const int signal : kEnds) {
      if (sigismember(&held_, signal) == 1 && sigismember(&pending, signal) == 1) return true;
    }
    return false;
  }

 private:
  static constexpr int kEnds[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  sigset_t before_;
  sigset_t held_;
};

// Until the file is closed, however that comes about: tells the agent that somebody asks. Of a file
// system without locks the agent knows that this cannot be told.
void HoldAskerLock(const File& file) {
  struct flock lock {};
  lock.l_type = F_RDLCK;  // shared, as others may ask as well
  lock.l_whence = SEEK_SET;
  lock.l_start = wire::kAskerLockOffset;
  lock.l_len = wire::kAskerLockBytes;
  (void)fcntl(file.fd(), F_OFD_SETLK, &lock);
}

// No other child is to be killed in its place, whatever the gauge file says: it has the program's
// user, sends no signal, and is younger than the request.
bool MayBeCopy(uint32_t process, uint32_t child, uint64_t since_ticks) {
  constexpr int kExitSignal = 38;
  const auto info = ReadProcess(child);
  const std::string directory = fmt::format("/proc/{}", child);
  // Who it is, who it acts as, who it can become again.
  const std::string users = StatusField(ReadStatus(fmt::format("/proc/{}", process)), "Uid");
  return info && info->parent == process && info->start_ticks >= since_ticks &&
         StatField(ReadStat(directory), kExitSignal) == 0 && !users.empty() &&
         StatusField(ReadStatus(directory), "Uid") == users;
}

// A child of the process that this one numbers so in its own pid namespace; 0 if there is none.
uint32_t ChildNumbered(uint32_t process, uint32_t inside) {
  const auto tasks = NumbersIn(fmt::format("/proc/{}/task", process));
  if (!tasks) return 0;
  for (const uint32_t thread : *tasks) {
    for (const uint32_t child : ChildrenOf(fmt::format("/proc/{}/task/{}", process, thread))) {
      if (InnermostPidOf(fmt::format("/proc/{}", child)) == inside) return child;
    }
  }
  // A kernel that does not list children.
  const auto info = ReadProcess(inside);
  return info && info->parent == process ? inside : 0;
}

}  // namespace

Result<std::unique_ptr<AgentCopy>> AgentCopy::Ask(uint32_t process, const std::string& gauge_path,
                                                  const Options& options) {
  HG_ASSIGN(File file, File::OpenForUpdate(gauge_path));
  HG_ASSIGN(const GaugeLayout layout, GaugeLayout::Read(file, gauge_path));
  if (layout.header().version < kFirstVersion) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("the agent in process {} is too old to make a copy of it", process));
  }
  HoldAskerLock(file);
  const HeldBackEnd held_back;  // longer than a request that is taken back
  std::unique_ptr<AgentCopy> copy(new AgentCopy(std::move(file), process));
  HG_TRY(copy->Request(options.timeout_ms, [&] { return held_back.due(); }));
  HG_TRY(copy->OpenImage(options));
  return copy;
}

// Odd numbers ask for a copy, others end it. The agent looks when the generation changes.
void AgentCopy::Announce(uint32_t requests) const {
  // If the file is gone, so is who would look.
  if (!file_.WriteAt(kWords + offsetof(wire::LeakControl, picture_requests), &requests,
                     sizeof requests)) {
    return;
  }
  uint32_t generation = 0;
  if (!ReadWord(file_, kGeneration, &generation)) return;
  ++generation;
  (void)file_.WriteAt(kGeneration, &generation, sizeof generation);
}

Status AgentCopy::Request(int timeout_ms, const std::function<bool()>& is_cancelled) {
  wire::LeakControl words{};
  if (!ReadWord(file_, kWords, &words)) {
    return Fail(ErrorCode::kTruncated, "'" + Printable(file_.path()) + "' has lost its header");
  }
  request_ = words.picture_requests + (words.picture_requests % 2 == 0 ? 1 : 2);
  const uint64_t since_ticks = TicksNow();
  asked_ns_ = MonotonicNow();
  Announce(request_);
  const uint64_t deadline = asked_ns_ + static_cast<uint64_t>(timeout_ms) * 1'000'000;
  while (true) {
    if (ReadWord(file_, kWords, &words) && words.picture_answers == request_) break;
    const auto info = ReadProcess(process_);
    if (!info || info->ended()) {
      return Fail(ErrorCode::kNotFound, fmt::format("process {} has ended", process_));
    }
    if (is_cancelled()) return Fail(ErrorCode::kUnavailable, "the check was cancelled");
    if (MonotonicNow() >= deadline) {
      return Fail(ErrorCode::kUnavailable,
                  fmt::format("process {} was asked for a copy of itself and took no sample for "
                              "{} s; it makes one at its next sample: try again, or sample more "
                              "often",
                              process_, timeout_ms / 1000));
    }
    poll(nullptr, 0, 2);
  }
  if (words.picture_pid == 0) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("process {} could not copy itself: {}", process_,
                            std::strerror(static_cast<int>(words.picture_error & 0xfff))));
  }
  const uint32_t child = ChildNumbered(process_, words.picture_pid);
  const auto info = ReadProcess(child);
  if (child == 0 || !info) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("the copy of process {} is gone already", process_));
  }
  if (!MayBeCopy(process_, child, since_ticks)) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("process {} is no copy of process {}, as '{}' says", child, process_,
                            Printable(file_.path())));
  }
  copy_ = child;
  copy_start_ticks_ = info->start_ticks;
  pause_ns_ = words.picture_pause_ns;
  CapturedThread thread;
  thread.id = words.picture_thread;
  thread.stack_pointer = words.picture_stack_pointer;
  threads_ = {thread};
  return {};
}

Status AgentCopy::OpenImage(const Options& options) {
  auto image = std::make_unique<ProcessMemoryImage>(copy_);
  uint64_t word = 0;
  const uint64_t probe = threads_[0].stack_pointer;
  if (options.read_directly && image->Read(probe, sizeof word, &word) == sizeof word) {
    image_ = std::move(image);
    return {};
  }
  struct stat info {};
  if (stat(file_.path().c_str(), &info) != 0) {
    return tl::unexpected(SystemError("cannot see '" + Printable(file_.path()) + "'", errno));
  }
  HG_ASSIGN(image_, ServedMemoryImage::Open(file_.path(), info.st_uid));
  if (image_->Read(probe, sizeof word, &word) != sizeof word) {
    return Fail(ErrorCode::kPermission,
                fmt::format("the memory of the copy of process {} can be read neither directly "
                            "nor through pipes beside '{}'",
                            process_, Printable(file_.path())));
  }
  return {};
}

bool AgentCopy::alive() const {
  const auto info = ReadProcess(copy_);
  return info && !info->ended() && info->parent == process_ &&
         info->start_ticks == copy_start_ticks_;
}

AgentCopy::~AgentCopy() {
  if (request_ == 0) return;
  // First so that it ends, then so that the agent waits for it.
  const bool was_alive = copy_ != 0 && alive();
  const uint32_t ended = request_ + 1;
  (void)file_.WriteAt(kWords + offsetof(wire::LeakControl, picture_requests), &ended, sizeof ended);
  if (was_alive) {
    kill(static_cast<pid_t>(copy_), SIGKILL);
    for (int i = 0; i < 1000 && alive(); ++i) poll(nullptr, 0, 1);
  }
  Announce(ended);
}

}  // namespace heapgauge::leaks
