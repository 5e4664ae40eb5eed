#include "core/report/draw/render.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/report/draw/graphviz.h"

namespace heapgauge {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { Close(); }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }
  void Reset(int fd) {
    Close();
    fd_ = fd;
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

// What the child says through its pipe: one of these letters, a number or a text.
constexpr char kSaysDrawn = 'd';
constexpr char kSaysFailed = 'f';

void SetLimits(const RenderLimits& limits) {
  const auto seconds = static_cast<rlim_t>(std::ceil(limits.seconds)) + 1;
  const rlimit cpu{seconds, seconds + 1};
  setrlimit(RLIMIT_CPU, &cpu);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  const rlimit output{limits.memory_bytes, limits.memory_bytes};
  setrlimit(RLIMIT_FSIZE, &output);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  // The child begins with all that its parent has mapped.
  uint64_t pages = 0;
  if (FILE* statm = std::fopen("/proc/self/statm", "r")) {
    unsigned long size = 0;
    if (std::fscanf(statm, "%lu", &size) == 1) pages = size;
    std::fclose(statm);
  }
  const uint64_t mapped = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const rlimit space{mapped + limits.memory_bytes, mapped + limits.memory_bytes};
  if (pages != 0) setrlimit(RLIMIT_AS, &space);
#endif
}

[[noreturn]] void Draw(const std::string& dot, const std::string& format, const Effort& effort,
                       const RenderLimits& limits, int picture, int answer) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Whatever the terminal sends is for the parent to handle.
  for (const int signal : {SIGPIPE, SIGTERM, SIGINT, SIGALRM}) std::signal(signal, SIG_DFL);
  SetLimits(limits);
  // Graphviz prints warnings, such as labels wider than their node, that help nobody.
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null >= 0) {
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
  }
  Drawn drawn;
  FILE* out = fdopen(picture, "wb");
  if (out == nullptr) {
    drawn.error = "no memory for a picture";
  } else {
    drawn = DrawWithGraphviz(dot, format, effort, out);
    if (drawn.ok && std::fflush(out) != 0) {
      drawn = {false, "the picture is too large", 0};
    }
  }
  const std::string text =
      drawn.ok ? kSaysDrawn + std::to_string(drawn.left_out) : kSaysFailed + drawn.error;
  const ssize_t written = write(answer, text.data(), text.size());
  _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
}

enum class Outcome { kDrawn, kFailed, kTooMuch };

struct Attempt {
  Outcome outcome = Outcome::kFailed;
  std::string text;  // the picture, or what is wrong
  size_t left_out = 0;
};

// What the child said, until it ends or the time is up.
std::string Listen(int fd, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  std::string said;
  while (said.size() < 4096) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) break;
    pollfd wait{fd, POLLIN, 0};
    const int ready = poll(&wait, 1, static_cast<int>(std::min<long long>(left, 1'000'000)));
    if (ready < 0 && errno != EINTR) break;
    if (ready <= 0) continue;
    std::array<char, 512> buffer;
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    said.append(buffer.data(), static_cast<size_t>(got));
  }
  return said;
}

Result<std::string> ReadPicture(int fd, uint64_t limit) {
  const off_t size = lseek(fd, 0, SEEK_END);
  if (size < 0 || static_cast<uint64_t>(size) > limit) {
    return Fail(ErrorCode::kUnavailable, "the picture is too large");
  }
  std::string picture(static_cast<size_t>(size), '\0');
  size_t have = 0;
  while (have < picture.size()) {
    const ssize_t got =
        pread(fd, picture.data() + have, picture.size() - have, static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return tl::unexpected(SystemError("cannot read the picture", errno));
    have += static_cast<size_t>(got);
  }
  return picture;
}

Result<Attempt> Try(const std::string& dot, const std::string& format, const Effort& effort,
                    const RenderLimits& limits) {
  const Descriptor picture(memfd_create("heapgauge-picture", MFD_CLOEXEC));
  if (picture.get() < 0)
    return tl::unexpected(SystemError("cannot make room for a picture", errno));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return tl::unexpected(SystemError("cannot make a pipe", errno));
  Descriptor from_child(ends[0]);
  Descriptor to_parent(ends[1]);
  const pid_t child = fork();
  if (child < 0) return tl::unexpected(SystemError("cannot start a process for the layout", errno));
  if (child == 0) Draw(dot, format, effort, limits, picture.get(), to_parent.get());
  to_parent.Close();
  const std::string said = Listen(from_child.get(), limits.seconds);
  if (said.empty()) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  Attempt attempt;
  if (said.empty()) {  // out of time, out of memory, or it crashed on a graph this size
    attempt.outcome = Outcome::kTooMuch;
  } else if (said[0] == kSaysFailed) {
    attempt.text = said.substr(1);
  } else {
    HG_ASSIGN(attempt.text, ReadPicture(picture.get(), limits.memory_bytes));
    attempt.outcome = Outcome::kDrawn;
    attempt.left_out = std::strtoul(said.c_str() + 1, nullptr, 10);
  }
  return attempt;
}

}  // namespace

Result<std::string> RenderDot(const std::string& dot, const std::string& format,
                              std::vector<std::string>* notes, const RenderLimits& limits) {
  static constexpr const char* kFormats[] = {"svg", "png", "gif", "ps", "pdf"};
  if (std::find(std::begin(kFormats), std::end(kFormats), format) == std::end(kFormats)) {
    return Fail(ErrorCode::kInvalidArgument, "there is no picture format '" + Printable(format) +
                                                 "'; there are svg, png, gif, ps and pdf");
  }
  static constexpr Effort kEfforts[] = {{true, 0}, {false, 0}, {false, 300}, {false, 80}};
  for (const Effort& effort : kEfforts) {
    HG_ASSIGN(Attempt attempt, Try(dot, format, effort, limits));
    if (attempt.outcome == Outcome::kFailed) {
      return Fail(ErrorCode::kUnavailable, "no picture: " + attempt.text);
    }
    if (attempt.outcome == Outcome::kTooMuch) continue;
    if (notes != nullptr && attempt.left_out > 0) {
      notes->push_back(fmt::format(
          "the graph was too large to lay out in time: {} of its nodes are not in the picture",
          attempt.left_out));
    } else if (notes != nullptr && !effort.careful) {
      notes->push_back("the graph was too large to lay out with care: its lines are straight");
    }
    return std::move(attempt.text);
  }
  return Fail(ErrorCode::kUnavailable,
              "no picture: the layout of this graph takes too long; show fewer nodes (-n 40), or "
              "use heapgauge flame");
}

}  // namespace heapgauge
