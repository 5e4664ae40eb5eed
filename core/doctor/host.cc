#include "core/doctor/host.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/doctor/gauge.h"
#include "core/gauge/gauge_directory.h"
#include "core/os/proc_fields.h"
#include "core/os/process.h"

namespace heapgauge {
namespace {

constexpr int kTraceCapability = 19;  // CAP_SYS_PTRACE

// In the child: only calls that are safe there.
[[noreturn]] void BecomeProbe(const char* program, char* const* environment, int errors) {
  const int null = open("/dev/null", O_RDWR);
  if (null >= 0) {
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
  }
  dup2(errors, STDERR_FILENO);
  char* const arguments[] = {const_cast<char*>(program), nullptr};
  execve(program, arguments, environment);
  _exit(127);
}

// Waits for the child, but not for ever.
bool WaitBriefly(pid_t pid) {
  for (int i = 0; i < 500; ++i) {
    const pid_t ended = waitpid(pid, nullptr, WNOHANG);
    if (ended == pid || (ended < 0 && errno != EINTR)) return true;
    usleep(10'000);
  }
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  return false;
}

}  // namespace

AgentProbe ProbeAgent(const std::string& agent_path) {
  AgentProbe probe;
  probe.program = access("/bin/true", X_OK) == 0 ? "/bin/true" : "/usr/bin/true";
  char directory[] = "/tmp/heapgauge-probe-XXXXXX";
  if (mkdtemp(directory) == nullptr) {
    probe.error = std::string("cannot make a directory in /tmp: ") + std::strerror(errno);
    return probe;
  }
  const std::string preload = "LD_PRELOAD=" + agent_path;
  const std::string place = std::string("HEAPGAUGE_DIR=") + directory;
  char* const environment[] = {const_cast<char*>(preload.c_str()), const_cast<char*>(place.c_str()),
                               nullptr};
  const std::string errors = std::string(directory) + "/errors";
  const int fd = open(errors.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const pid_t pid = fork();
  if (pid == 0) BecomeProbe(probe.program.c_str(), environment, fd);
  if (pid > 0) {
    probe.started = WaitBriefly(pid);
    if (!probe.started) probe.error = "it did not end within 5 seconds";
  } else {
    probe.error = std::string("cannot start a process: ") + std::strerror(errno);
  }
  if (fd >= 0) close(fd);
  const std::string text = ReadWholeFile(errors, 4096).value_or("");
  probe.messages = text.substr(0, text.find('\n'));
  if (const auto files = ListGaugeFiles(directory)) {
    for (const std::string& file : *files) {
      const auto facts = ReadGaugeFacts(file);
      if (!facts) {
        probe.messages = facts.error().message;
        continue;
      }
      probe.made_gauge = true;
      probe.version = facts->agent_version;
    }
  }
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  return probe;
}

Findings CheckProbe(const AgentProbe& probe, const std::string& agent_path,
                    const std::string& version) {
  Findings findings;
  if (!probe.made_gauge) {
    findings.push_back(Found(
        "agent-broken",
        fmt::format("the agent {} does not work: {} with it makes no gauge file", agent_path,
                    probe.program),
        !probe.error.empty()      ? probe.error
        : !probe.messages.empty() ? probe.messages
                                  : "it ran and said nothing",
        "install libheapgauge.so and heapgauge from one build; its C library must be glibc 2.35 or "
        "newer"));
    return findings;
  }
  if (probe.version != version) {
    findings.push_back(
        Found("agent-version",
              fmt::format("the agent is version {}, this command is {}",
                          probe.version.empty() ? "unknown" : probe.version, version),
              agent_path, "install both from one build"));
  } else {
    findings.push_back(
        Fine("the agent works in " + probe.program, agent_path + ", version " + probe.version));
  }
  return findings;
}

HostFacts ReadHostFacts() {
  HostFacts facts;
  facts.uid = geteuid();
  const std::string status = ReadStatus("/proc/self");
  const uint64_t set = std::strtoull(StatusField(status, "CapEff").c_str(), nullptr, 16);
  facts.may_trace = (set >> kTraceCapability & 1) != 0;
  const auto scope = ReadWholeFile("/proc/sys/kernel/yama/ptrace_scope", 16);
  if (scope) facts.ptrace_scope = std::atoi(scope->c_str());
  std::istringstream mounts(ReadWholeFile("/proc/self/mounts", 1 << 20).value_or(""));
  for (std::string line; std::getline(mounts, line);) {
    if (line.find(" /proc proc ") == std::string::npos) continue;
    const size_t at = line.find("hidepid=");
    if (at == std::string::npos) {
      facts.hide_pid.clear();  // a later mount covers an earlier one
      continue;
    }
    facts.hide_pid = line.substr(at, line.find_first_of(", ", at) - at);
    if (facts.hide_pid == "hidepid=0" || facts.hide_pid == "hidepid=off") facts.hide_pid.clear();
  }
  return facts;
}

Findings CheckHost(const HostFacts& facts) {
  Findings findings;
  if (!facts.hide_pid.empty() && !facts.may_trace) {
    findings.push_back(Found("hidden-processes",
                             "/proc hides the processes of other users from you, so nothing can be "
                             "said about them",
                             "/proc is mounted with " + facts.hide_pid, "ask as root"));
  }
  if (!facts.may_trace) {
    findings.push_back(Found(
        "ptrace-limits",
        facts.ptrace_scope == 0
            ? "you may look into processes of your own user only; names of programs in containers "
              "of others stay unknown"
            : "you may read the gauge files of your own user, but not attach to running processes",
        facts.ptrace_scope == 0
            ? fmt::format("user {} has no CAP_SYS_PTRACE", facts.uid)
            : fmt::format("kernel.yama.ptrace_scope is {}, and user {} has no CAP_SYS_PTRACE",
                          facts.ptrace_scope, facts.uid),
        "for the processes of others: sudo heapgauge ..."));
  }
  return findings;
}

}  // namespace heapgauge
