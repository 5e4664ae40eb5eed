#include "tests/cli/command.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace heapgauge::testing {
namespace {

std::string Contents(int fd) {
  std::string text;
  char buffer[4096];
  ssize_t n = 0;
  for (off_t at = 0; (n = pread(fd, buffer, sizeof buffer, at)) > 0; at += n) {
    text.append(buffer, static_cast<size_t>(n));
  }
  return text;
}

}  // namespace

Command::Command(const std::vector<std::string>& arguments, const Environment& environment,
                 const std::string& input, User user) {
  out_ = memfd_create("out", MFD_CLOEXEC);
  err_ = memfd_create("err", MFD_CLOEXEC);
  const int in = memfd_create("in", MFD_CLOEXEC);
  EXPECT_EQ(write(in, input.data(), input.size()), static_cast<ssize_t>(input.size()));
  lseek(in, 0, SEEK_SET);
  pid_ = fork();
  if (pid_ == 0) {
    // A shell starts background jobs with some of these ignored, nohup with another, and programs
    // inherit that.
    for (const int ignored : {SIGINT, SIGQUIT, SIGHUP}) signal(ignored, SIG_DFL);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    dup2(in, STDIN_FILENO);
    dup2(out_, STDOUT_FILENO);
    dup2(err_, STDERR_FILENO);
    constexpr uid_t kNobody = 65534;
    if (user == User::kNobody) {
      if (setresgid(kNobody, kNobody, kNobody) != 0 || setresuid(kNobody, kNobody, kNobody) != 0 ||
          access(arguments[0].c_str(), X_OK) != 0) {
        _exit(kCannotBeNobody);
      }
    }
    std::vector<char*> argv;
    for (const std::string& argument : arguments)
      argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    _exit(99);
  }
  close(in);
}

std::string Command::OutSoFar() const { return Contents(out_); }

Outcome Command::Wait() {
  int status = 0;
  EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
  Outcome outcome;
  if (WIFEXITED(status)) outcome.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  outcome.out = Contents(out_);
  outcome.err = Contents(err_);
  close(out_);
  close(err_);
  return outcome;
}

std::vector<std::string> HeapgaugeCommand(const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {HEAPGAUGE_PROGRAM};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

Outcome Heapgauge(const std::vector<std::string>& arguments, const Environment& environment,
                  const std::string& input) {
  return Command(HeapgaugeCommand(arguments), environment, input).Wait();
}

ScratchDir::ScratchDir() {
  std::string pattern = ::testing::TempDir() + "heapgauge.XXXXXX";
  path_ = mkdtemp(pattern.data());
}

ScratchDir::~ScratchDir() { std::filesystem::remove_all(path_); }

}  // namespace heapgauge::testing
