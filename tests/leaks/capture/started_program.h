// A program that a test starts and talks to through pipes; killed at the end.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/leaks/capture/child.h"

namespace heapgauge::leaks {

class StartedProgram {
 public:
  explicit StartedProgram(const std::vector<std::string>& arguments) {
    int in[2];
    int out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) return;
    std::vector<char*> argv;
    for (const std::string& argument : arguments) {
      argv.push_back(const_cast<char*>(argument.c_str()));
    }
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(in[0], 0);
      dup2(out[1], 1);
      execv(argv[0], argv.data());
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    in_ = in[1];
    out_ = out[0];
  }
  ~StartedProgram() {
    if (pid_ > 0 && !ended_) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    if (in_ >= 0) close(in_);
    if (out_ >= 0) close(out_);
  }
  StartedProgram(const StartedProgram&) = delete;
  StartedProgram& operator=(const StartedProgram&) = delete;

  pid_t pid() const { return pid_; }

  // Whether it has ended; it is still to be waited for.
  bool HasEnded() const {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid != 0;
  }
  // "" at the end.
  std::string ReadLine() {
    std::string line;
    char c = 0;
    while (IsReadable(out_) && read(out_, &c, 1) == 1 && c != '\n') line.push_back(c);
    return line;
  }
  // Ends its input and waits; what it said then, and its status as waitpid tells it.
  std::string Finish(int* status) {
    close(in_);
    in_ = -1;
    std::string said;
    for (std::string line = ReadLine(); !line.empty(); line = ReadLine()) said += line + "\n";
    EXPECT_TRUE(Eventually("the program ends", [&] { return HasEnded(); }));
    if (!HasEnded()) kill(pid_, SIGKILL);
    waitpid(pid_, status, 0);
    ended_ = true;
    return said;
  }

 private:
  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  bool ended_ = false;
};

// How often to try: many more times in the long checks.
inline int Rounds(int few) {
  const char* rounds = std::getenv("HEAPGAUGE_TEST_ROUNDS");
  return rounds == nullptr ? few : std::atoi(rounds);
}

}  // namespace heapgauge::leaks
