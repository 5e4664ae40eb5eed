#include "core/source/run_tool.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/file.h"
#include "core/os/process.h"

extern char** environ;

namespace heapgauge {
namespace {

// What a child is started with; freed with it.
class SpawnActions {
 public:
  SpawnActions() { posix_spawn_file_actions_init(&actions_); }
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

// Reads until the writer is done. False if it had to be stopped.
bool ReadAll(int fd, const ToolLimits& limits, std::string* output) {
  const uint64_t deadline = MonotonicNow() + limits.seconds * 1'000'000'000;
  char buffer[64 << 10];
  for (;;) {
    const uint64_t now = MonotonicNow();
    if (now >= deadline || output->size() > limits.bytes) return false;
    pollfd ready{fd, POLLIN, 0};
    const int wait_ms = static_cast<int>((deadline - now) / 1'000'000 + 1);
    if (poll(&ready, 1, wait_ms) < 0 && errno != EINTR) return false;
    if (ready.revents == 0) continue;
    const ssize_t got = read(fd, buffer, sizeof(buffer));
    if (got == 0) return true;
    if (got < 0 && errno != EINTR) return false;
    if (got > 0) output->append(buffer, static_cast<size_t>(got));
  }
}

}  // namespace

Result<std::string> RunTool(const std::vector<std::string>& arguments, const ToolLimits& limits) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return tl::unexpected(SystemError("cannot make a pipe", errno));
  SpawnActions actions;
  posix_spawn_file_actions_addopen(actions.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(actions.get(), ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(actions.get(), STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> words;
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, words[0], actions.get(), nullptr, words.data(), environ);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    const bool missing = error == ENOENT || error == ENOTDIR || error == EACCES;
    return Fail(missing ? ErrorCode::kNotFound : ErrorCode::kIo,
                "cannot run " + arguments[0] + ": " + SystemError("", error).message);
  }
  std::string output;
  const bool finished = ReadAll(ends[0], limits, &output);
  close(ends[0]);
  if (!finished) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!finished) {
    return Fail(ErrorCode::kIo, arguments[0] + " was stopped: it took longer than " +
                                    std::to_string(limits.seconds) +
                                    " seconds or printed more than " +
                                    std::to_string(limits.bytes >> 20) + " MB");
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return Fail(ErrorCode::kIo, arguments[0] + " failed");
  }
  return output;
}

}  // namespace heapgauge
