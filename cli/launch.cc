#include "cli/launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "core/base/file.h"
#include "core/doctor/command.h"
#include "core/doctor/executable.h"
#include "core/os/process.h"

namespace heapgauge::cli {
namespace {

constexpr int kPassedOn[] = {SIGTERM, SIGHUP,   SIGINT,  SIGQUIT, SIGUSR1,
                             SIGUSR2, SIGWINCH, SIGCONT, SIGALRM};

// In the child: exec, or tell the parent why not.
[[noreturn]] void BecomeProgram(const LaunchSpec& spec, const sigset_t& mask,
                                const struct sigaction& child_action, int error_pipe) {
  for (const auto& [name, value] : spec.environment) setenv(name.c_str(), value.c_str(), 1);
  if (!spec.pid_variable.empty()) {
    setenv(spec.pid_variable.c_str(), std::to_string(getpid()).c_str(), 1);
  }
  std::vector<char*> arguments;
  for (const std::string& argument : spec.command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  sigaction(SIGCHLD, &child_action, nullptr);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  const ssize_t n = write(error_pipe, &error, sizeof error);
  static_cast<void>(n);
  _exit(127);
}

// Waits for the end of the child; signals are blocked and taken one by one.
int WaitFor(pid_t pid, const sigset_t& watched, uint64_t period_ns,
            const std::function<void(pid_t)>& tick) {
  uint64_t next_tick = MonotonicNow() + period_ns;
  while (true) {
    // A stop by a thread of ours that looks at the program's memory is not our business, and
    // waiting for the program would take the news of it away from that thread.
    if (const auto process = ReadProcess(static_cast<uint32_t>(pid));
        !process || process->ended()) {
      int status = 0;
      const pid_t ended = waitpid(pid, &status, WNOHANG);
      if (ended == pid && !WIFSTOPPED(status)) return status;
      if (ended < 0 && errno != EINTR) return 0;
    }
    uint64_t now = MonotonicNow();
    if (now >= next_tick) {
      tick(pid);
      now = MonotonicNow();
      next_tick = now + period_ns;
    }
    const uint64_t left = next_tick - now;
    const timespec timeout{static_cast<time_t>(left / kSecondNs),
                           static_cast<long>(left % kSecondNs)};
    siginfo_t info{};
    const int signal = sigtimedwait(&watched, &info, &timeout);
    // si_code is positive for what the kernel sends: a terminal's Ctrl-C goes to the child as well.
    if (signal > 0 && signal != SIGCHLD && info.si_code <= 0) kill(pid, signal);
  }
}

}  // namespace

Result<LaunchResult> Launch(const LaunchSpec& spec, uint64_t period_ns,
                            const std::function<void(pid_t)>& tick,
                            const std::function<void(pid_t)>& started,
                            const std::function<void(int wait_status)>& ended) {
  int error_pipe[2];
  if (pipe2(error_pipe, O_CLOEXEC) != 0) {
    return tl::unexpected<Error>(SystemError("cannot make a pipe", errno));
  }
  sigset_t watched;
  sigset_t before;
  sigemptyset(&watched);
  sigaddset(&watched, SIGCHLD);
  for (const int signal : kPassedOn) sigaddset(&watched, signal);
  sigprocmask(SIG_BLOCK, &watched, &before);
  // An ignored SIGCHLD would take the exit status away from us.
  struct sigaction default_action {};
  default_action.sa_handler = SIG_DFL;
  struct sigaction child_action {};
  sigaction(SIGCHLD, &default_action, &child_action);

  LaunchResult result;
  const uint64_t started_ns = MonotonicNow();
  result.pid = fork();
  if (result.pid == 0) BecomeProgram(spec, before, child_action, error_pipe[1]);
  const int fork_errno = errno;
  close(error_pipe[1]);
  if (result.pid < 0) {
    close(error_pipe[0]);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return tl::unexpected<Error>(SystemError("cannot start a process", fork_errno));
  }
  // The program has its own way with these from here on. That nobody reads our last words, or that
  // a file has reached its largest size, must not become its exit code.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  // The pipe closes by itself when exec succeeds.
  ssize_t got = 0;
  do {
    got = read(error_pipe[0], &result.exec_errno, sizeof result.exec_errno);
  } while (got < 0 && errno == EINTR);
  close(error_pipe[0]);
  if (started && result.exec_errno == 0) started(result.pid);
  result.wait_status = WaitFor(result.pid, watched, period_ns, tick);
  result.duration_ns = MonotonicNow() - started_ns;
  if (ended && result.exec_errno == 0) ended(result.wait_status);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return result;
}

uint64_t RunningTime(const LaunchResult& result, const RecordingFacts& recording) {
  return recording.state == RecordingState::kEnded ? recording.duration_ns : result.duration_ns;
}

std::string UnseenEnd(const LaunchResult& result, bool seen) {
  if (seen || !WIFEXITED(result.wait_status)) return "";
  return "this is not known to its end: it executed a program that the agent is not in, or that "
         "runs "
         "as a user who may not write to the gauge directory, or left by the system call itself";
}

std::string HowItEnded(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const char* name = sigabbrev_np(WTERMSIG(wait_status));
    return std::string("was killed by SIG") + (name != nullptr ? name : "?");
  }
  return "exited with " + std::to_string(WEXITSTATUS(wait_status));
}

void EndLike(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    prctl(PR_SET_DUMPABLE, 0);  // core files that go through a pipe do not heed the limit
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, nullptr);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
    kill(getpid(), signal);
    _exit(128 + signal);  // it does not end programs after all
  }
  std::exit(WEXITSTATUS(wait_status));
}

// The agent beside our own executable, or where it was installed.
Result<std::string> FindAgent() {
  if (const char* agent = std::getenv("HEAPGAUGE_AGENT"); agent != nullptr && *agent != 0) {
    if (access(agent, R_OK) == 0) return std::filesystem::absolute(agent).string();
    return Fail(ErrorCode::kNotFound, std::string("HEAPGAUGE_AGENT names '") + agent +
                                          "', which cannot be read: " + std::strerror(errno));
  }
  const std::string self = ProcessExecutable(static_cast<uint32_t>(getpid()));
  const std::filesystem::path bin = std::filesystem::path(self).parent_path();
  const std::string candidates[] = {(bin / "../lib/libheapgauge.so").lexically_normal().string(),
                                    std::string(HEAPGAUGE_LIBDIR) + "/libheapgauge.so"};
  for (const std::string& candidate : candidates) {
    if (access(candidate.c_str(), R_OK) == 0) return candidate;
  }
  return Fail(ErrorCode::kNotFound,
              fmt::format("the agent libheapgauge.so is not there (looked for {} and {}); set "
                          "HEAPGAUGE_AGENT to its path",
                          candidates[0], candidates[1]));
}

Status PreloadAgent(const std::string& agent, LaunchSpec* spec) {
  if (agent.find_first_of(" :") != std::string::npos) {
    return Fail(ErrorCode::kInvalidArgument, "the path of the agent, '" + agent +
                                                 "', has a space or colon in it, which LD_PRELOAD "
                                                 "cannot express; move it or set HEAPGAUGE_AGENT");
  }
  const std::string path = FindCommand(spec->command.at(0));
  if (!path.empty() && RefusesAgent(ReadExecutable(path, "", false))) return {};
  const char* before = std::getenv("LD_PRELOAD");
  spec->environment.emplace_back("LD_PRELOAD",
                                 before != nullptr && *before != 0 ? agent + ":" + before : agent);
  return {};
}

}  // namespace heapgauge::cli
