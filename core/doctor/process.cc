#include "core/doctor/process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "core/base/encode.h"
#include "core/base/text.h"
#include "core/doctor/command.h"

namespace heapgauge {
namespace {

std::string Name(const ProcessFacts& facts) {
  return fmt::format("process {} ({})", facts.pid, facts.name);
}

std::string StartAgain(const ProcessFacts& facts) {
  if (!facts.unit.empty()) {
    return fmt::format(
        "systemctl edit {}, add: [Service] Environment=LD_PRELOAD=/path/to/libheapgauge.so, "
        "restart",
        facts.unit);
  }
  const std::string command = CutTo(Quoted(facts.command_line), 160);
  return "start it again: heapgauge run -- " + (command.empty() ? "PROGRAM" : command);
}

const PreloadEntry* AgentEntry(const ProcessFacts& facts) {
  for (const PreloadEntry& entry : facts.preload) {
    if (entry.is_agent) return &entry;
  }
  return nullptr;
}

Finding PreloadFailed(const ProcessFacts& facts, const PreloadEntry& entry) {
  if (!entry.problem.empty()) {
    const std::string where =
        facts.root.empty() ? "" : " in its own view of the files (" + facts.root + ")";
    return Found("preload-failed",
                 fmt::format("{} should have got the agent, but the dynamic linker could not load "
                             "'{}'{}",
                             Name(facts), entry.name, where),
                 entry.problem,
                 facts.root.empty()
                     ? "set LD_PRELOAD to the whole path of libheapgauge.so, readable for its user"
                     : "put libheapgauge.so into the image or mount it, and set LD_PRELOAD to its "
                       "path there");
  }
  return Found("preload-failed",
               fmt::format("{} has the agent in LD_PRELOAD, but did not load it", Name(facts)),
               "LD_PRELOAD names " + entry.name + ", which is not mapped",
               "look for a line 'ld.so: object ... cannot be preloaded' in its standard error");
}

// Nothing about the executable explains it: look at how the process was started.
Finding WhyNotLoaded(const ProcessFacts& facts) {
  const PreloadEntry* entry = AgentEntry(facts);
  if (facts.secure.value_or(false)) {
    return Found("secure-execution",
                 fmt::format("{} was started with raised rights, so the system ignored LD_PRELOAD",
                             Name(facts)),
                 "AT_SECURE is set in its auxiliary vector",
                 "start it as the user it runs as, without set-user-id and file capabilities");
  }
  if (entry != nullptr) return PreloadFailed(facts, *entry);
  if (!facts.environment_readable) {
    return Found("not-preloaded", fmt::format("the agent is not in {}", Name(facts)),
                 "no libheapgauge.so among its mappings; its environment cannot be read",
                 StartAgain(facts));
  }
  bool settings = false;
  for (const auto& [name, value] : facts.environment) {
    settings = settings || name.compare(0, 10, "HEAPGAUGE_") == 0;
  }
  if (!facts.ancestor_with_agent.empty() || settings) {
    return Found(
        "environment-cleaned",
        fmt::format("{} lost LD_PRELOAD on the way: what started it cleaned the environment",
                    Name(facts)),
        facts.ancestor_with_agent.empty()
            ? "it has HEAPGAUGE_ variables but no LD_PRELOAD"
            : "its ancestor " + facts.ancestor_with_agent + " passed the agent on in LD_PRELOAD",
        "put heapgauge run behind the launcher (sudo, env -i, su, a service manager), or let the "
        "launcher keep LD_PRELOAD");
  }
  return Found(
      "not-preloaded", fmt::format("{} was started without the agent", Name(facts)),
      "no LD_PRELOAD with libheapgauge.so in its environment; its parent is " + facts.parent_name,
      StartAgain(facts));
}

void CheckOrder(const ProcessFacts& facts, Findings* findings) {
  bool in_front = true;
  for (const PreloadEntry& entry : facts.preload) {
    if (entry.is_agent) {
      in_front = false;
      continue;
    }
    const std::string evidence = "LD_PRELOAD=" + facts.environment.at("LD_PRELOAD");
    if (in_front && entry.defines_malloc) {
      Finding finding = Found(
          "interposer-first",
          fmt::format("{} stands before the agent in LD_PRELOAD and defines malloc{}", entry.name,
                      entry.allocator.empty()
                          ? ": the agent only sees what it passes on"
                          : ", as " + entry.allocator + ": the agent sees no calls"),
          evidence, "put libheapgauge.so first: LD_PRELOAD=/path/to/libheapgauge.so:" + entry.name);
      if (entry.allocator.empty()) finding.severity = Severity::kWarning;
      findings->push_back(std::move(finding));
      continue;
    }
    findings->push_back(
        Found("other-preload",
              entry.name + " is preloaded too" +
                  (entry.allocator.empty() ? (entry.defines_malloc ? ", and defines malloc" : "")
                                           : ": the allocator is " + entry.allocator),
              evidence + (entry.problem.empty() ? "" : "; " + entry.problem), ""));
  }
}

}  // namespace

Findings CheckPresence(const ProcessFacts& facts) {
  Findings findings;
  if (!facts.exists) {
    findings.push_back(Found("no-such-process", fmt::format("there is no process {}", facts.pid),
                             fmt::format("/proc/{} does not exist", facts.pid),
                             "heapgauge ps lists what is profiled, also programs that are gone"));
  } else if (facts.kernel_thread) {
    findings.push_back(Found(
        "kernel-thread", fmt::format("{} is a thread of the kernel and has no heap", Name(facts)),
        "the flags in /proc/PID/stat", "choose another process"));
  } else if (facts.state == 'Z' || facts.state == 'X') {
    findings.push_back(Found(
        "zombie",
        fmt::format("{} has ended; its parent has not yet asked for its exit code", Name(facts)),
        fmt::format("its state is {}, its parent {} ({})", facts.state, facts.parent,
                    facts.parent_name),
        "its gauge file is still readable: heapgauge ps"));
  } else if (!facts.maps_readable) {
    findings.push_back(Found(
        "not-permitted",
        fmt::format("{} belongs to user {}; you may not look into it", Name(facts), facts.uid),
        fmt::format("/proc/{}/maps cannot be read", facts.pid),
        geteuid() == 0
            ? "root is not enough here: ask where the process is, in its container or on the host"
            : fmt::format("ask as that user or as root: sudo heapgauge doctor {}", facts.pid)));
  }
  return findings;
}

Findings CheckAgent(const ProcessFacts& facts, const Findings& executable) {
  Findings findings;
  if (IsValgrind(facts.exe) || !facts.valgrind.empty()) {
    findings.push_back(
        Found("valgrind",
              fmt::format("{} runs under valgrind, which replaces malloc by its own", Name(facts)),
              facts.valgrind.empty() ? facts.exe : facts.valgrind + " is mapped",
              "run the program without valgrind"));
    return findings;
  }
  if (const std::string emulator = EmulatorName(facts.exe); !emulator.empty()) {
    findings.push_back(Found("emulator", fmt::format("{} runs under {}", Name(facts), emulator),
                             "its executable is " + facts.exe,
                             "run the program on an x86-64 machine without it"));
    return findings;
  }
  if (IsWatcher(facts.command_line) && !facts.agent_loaded()) {
    findings.push_back(Found(
        "is-the-watcher",
        fmt::format("process {} is heapgauge itself, which stays beside the program it started",
                    facts.pid),
        Quoted(facts.command_line),
        facts.first_child == 0
            ? "heapgauge ps shows the program"
            : fmt::format("look at its child: heapgauge doctor {}", facts.first_child)));
    return findings;
  }
  Append(executable, &findings);
  if (!facts.sanitizer.empty() && FindById(findings, "sanitizer") == nullptr) {
    findings.push_back(Found("sanitizer",
                             fmt::format("{} has a sanitizer's malloc, which does not go with the "
                                         "agent",
                                         Name(facts)),
                             facts.sanitizer + " is mapped", "build it without -fsanitize"));
  }
  if (!facts.agent_loaded()) {
    if (!HasProblem(findings)) findings.push_back(WhyNotLoaded(facts));
    return findings;
  }
  if (facts.agents.size() > 1) {
    std::string list;
    for (const std::string& path : facts.agents) list += (list.empty() ? "" : ", ") + path;
    findings.push_back(Found("loaded-twice",
                             fmt::format("{} has loaded {} copies of the agent, which count the "
                                         "same calls",
                                         Name(facts), facts.agents.size()),
                             list, "name one of them only in LD_PRELOAD"));
  }
  CheckOrder(facts, &findings);
  if (facts.gauges.empty()) return findings;
  if (std::all_of(facts.gauges.begin(), facts.gauges.end(),
                  [](const GaugeInMemory& gauge) { return gauge.deleted; })) {
    findings.push_back(Found(
        "gauge-deleted",
        fmt::format("the gauge file of {} was removed while the program uses it", Name(facts)),
        facts.gauges.front().path_inside + " is mapped and deleted",
        "start the program again; keep /tmp cleaners away, or set HEAPGAUGE_DIR to a directory of "
        "its own"));
  }
  return findings;
}

Findings CheckSurroundings(const ProcessFacts& facts) {
  Findings findings;
  if (facts.agent_loaded() && facts.seccomp != 0 && facts.seccomp_is_its_own) {
    findings.push_back(
        Found("seccomp",
              fmt::format("{} put a seccomp filter on itself: from then on the agent "
                          "makes no system call and its file has the room it has",
                          Name(facts)),
              fmt::format("Seccomp is {} in its status", facts.seccomp),
              "if samples get lost, use a larger interval: heapgauge ctl PID sample "
              "2M"));
  }
  constexpr uint64_t kRoomy = 64 << 20;
  if (facts.file_size_limit < kRoomy) {
    findings.push_back(
        Found("file-size-limit",
              fmt::format("{} may write files of up to {} only, and so may its gauge file",
                          Name(facts), FormatBytes(static_cast<double>(facts.file_size_limit))),
              "RLIMIT_FSIZE in /proc/PID/limits",
              "raise it: ulimit -f unlimited, or LimitFSIZE= in a unit"));
  }
  if (facts.address_space_limit != kNoLimit &&
      facts.address_space > facts.address_space_limit / 10 * 9) {
    findings.push_back(Found(
        "address-space-limit",
        fmt::format("{} has used {} of the {} of address space it may have", Name(facts),
                    FormatBytes(static_cast<double>(facts.address_space)),
                    FormatBytes(static_cast<double>(facts.address_space_limit))),
        "RLIMIT_AS in /proc/PID/limits", "raise it: ulimit -v unlimited, or LimitAS= in a unit"));
  }
  if (facts.memory_limit != kNoLimit && facts.memory_usage > facts.memory_limit / 10 * 9) {
    findings.push_back(
        Found("memory-limit-near",
              fmt::format("the memory cgroup of {} is nearly full: {} of {}", Name(facts),
                          FormatBytes(static_cast<double>(facts.memory_usage)),
                          FormatBytes(static_cast<double>(facts.memory_limit))),
              "a cgroup above /proc/PID/cgroup; a gauge file on tmpfs counts towards it",
              "keep a copy before the OOM killer comes: heapgauge ctl PID dump -o now.hg"));
  }
  if (facts.other_mount_namespace) {
    findings.push_back(
        Found("other-mount-namespace",
              fmt::format("{} sees other files than you do; heapgauge reads them "
                          "through {}",
                          Name(facts), facts.root.empty() ? "nothing" : facts.root),
              facts.in_container ? facts.container_evidence : "its mount namespace",
              facts.gauges.empty() ? "" : "heapgauge top " + ShellWord(facts.gauges.front().path)));
  }
  if (facts.other_user_namespace) {
    findings.push_back(Found(
        "other-user-namespace",
        fmt::format("{} is another user to itself than it is to you ({}): its gauge directory is "
                    "named by the number it sees",
                    Name(facts), facts.uid),
        fmt::format("the user namespace in /proc/{}/ns", facts.pid),
        facts.gauges.empty() ? "" : "heapgauge top " + ShellWord(facts.gauges.front().path)));
  }
  if (facts.inner_pid != 0) {
    findings.push_back(
        Found("other-pid-namespace",
              fmt::format("{} knows itself as {}, and its gauge file is named so", Name(facts),
                          facts.inner_pid),
              "NSpid in its status",
              facts.gauges.empty() ? "" : "heapgauge top " + ShellWord(facts.gauges.front().path)));
  }
  return findings;
}

}  // namespace heapgauge
