#include "core/doctor/finding.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/text.h"

namespace heapgauge {
namespace {

constexpr Severity kP = Severity::kProblem;
constexpr Severity kW = Severity::kWarning;
constexpr Severity kH = Severity::kHint;

}  // namespace

const char* SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kProblem:
      return "problem";
    case Severity::kWarning:
      return "warning";
    case Severity::kHint:
      return "hint";
    case Severity::kOk:
      break;
  }
  return "ok";
}

const std::vector<Cause>& Causes() {
  static const std::vector<Cause> causes = {
      // The executable.
      {"not-found", kP, "", "there is no such program"},
      {"not-a-program", kP, "", "the file is neither an ELF program nor a script"},
      {"wrong-architecture", kP, "", "the program is not for x86-64"},
      {"static-executable", kP, "", "linked statically, nothing can be preloaded"},
      {"other-libc", kP, "", "the program runs on another C library than glibc"},
      {"old-glibc", kP, "", "the program's glibc is older than 2.35"},
      {"own-allocator", kP, "", "malloc is inside the executable"},
      {"private-allocator", kW, "", "an allocator under names of its own is inside"},
      {"own-heap", kW, "", "the language's run-time manages a heap of its own"},
      {"set-user-id", kP, "", "set-user-id or set-group-id: the system does not preload"},
      {"file-capabilities", kP, "", "file capabilities: the system does not preload"},
      {"sanitizer", kP, "", "built with a sanitizer that replaces malloc"},
      {"valgrind", kP, "", "runs under valgrind, which replaces malloc"},
      {"emulator", kP, "", "runs under an emulator"},
      {"launcher", kW, "", "the command starts the program with another environment"},
      // The process.
      {"no-such-process", kP, "", "there is no process of that number"},
      {"zombie", kP, "", "the process has ended and was not waited for"},
      {"kernel-thread", kP, "", "a thread of the kernel has no heap"},
      {"not-permitted", kP, "", "the process belongs to somebody else"},
      {"not-preloaded", kP, "", "the process was started without the agent"},
      {"environment-cleaned", kP, "", "a launcher dropped LD_PRELOAD on the way"},
      {"preload-failed", kP, "", "LD_PRELOAD names the agent, but it was not loaded"},
      {"secure-execution", kP, "", "started with raised rights, so LD_PRELOAD was ignored"},
      {"loaded-twice", kP, "", "two copies of the agent are in the process"},
      {"interposer-first", kP, "", "another library takes malloc before the agent"},
      {"other-preload", kH, "", "other libraries are preloaded too"},
      {"no-gauge-file", kP, "", "the agent is loaded but made no file"},
      {"gauge-deleted", kP, "", "the gauge file was removed while in use"},
      {"rights-changed", kW, "",
       "the process changed its user or root directory: its file cannot grow"},
      {"seccomp", kH, "", "a seccomp filter: the file has the room it has"},
      {"file-size-limit", kW, "", "RLIMIT_FSIZE keeps the file small"},
      {"address-space-limit", kW, "", "RLIMIT_AS is nearly used up"},
      {"memory-limit-near", kW, "", "the memory cgroup is nearly full"},
      {"other-mount-namespace", kH, "", "the process sees other files than we do"},
      {"other-pid-namespace", kH, "", "the process knows itself by another number"},
      {"other-user-namespace", kH, "", "the process is another user to itself"},
      {"is-the-watcher", kP, "", "the process is heapgauge itself, not the program"},
      // The gauge file.
      {"unreadable-trace", kP, "",
       "the trace is damaged from its beginning, or of another version"},
      {"empty-trace", kW, "", "the trace has no event"},
      {"incomplete-trace", kW, "", "events of the trace, or its end, are missing"},
      {"unreadable-gauge", kP, "unreadable", "the file is damaged or not a gauge file"},
      {"agent-version", kW, "other version", "agent and command are of different versions"},
      {"sampling-off", kP, "off", "sampling is switched off"},
      {"traced", kH, "traced", "every call goes into a trace; there are no samples"},
      {"trace-given-up", kP, "trace ended", "whoever recorded its calls is gone"},
      {"change-pending", kH, "", "a change is not yet taken up by the program"},
      {"lost-samples", kW, "lost samples", "samples were lost"},
      {"no-growth", kP, "no growth", "samples are lost now: the file cannot grow"},
      {"no-samples", kW, "no samples", "nothing was sampled so far"},
      {"few-samples", kH, "few samples", "there will be enough samples soon"},
      {"too-coarse", kW, "coarse", "the interval is too coarse for this program"},
      {"rate-capped", kH, "capped", "the cap on samples per second is at work"},
      {"cut-stacks", kW, "cut stacks", "many stacks lack their outer frames"},
      {"no-symbols", kW, "", "modules that hold much memory have no names"},
      {"program-gone", kH, "", "the program does not run any more"},
      // The gauge directory.
      {"directory-missing", kP, "", "there is no gauge directory, and none can be made"},
      {"directory-not-writable", kP, "", "files cannot be made in the gauge directory"},
      {"directory-owner", kP, "", "the gauge directory belongs to somebody else"},
      {"directory-mode", kP, "", "others may write into the gauge directory"},
      {"directory-full", kP, "", "there is no room in the gauge directory"},
      {"directory-small", kW, "", "the file system of the gauge directory is small"},
      {"directory-on-disk", kH, "", "the gauge directory is on a disk"},
      {"directory-vanishes", kW, "", "the gauge directory goes with the container"},
      {"directory-charged", kH, "", "the gauge file counts towards the memory limit"},
      // The host.
      {"agent-missing", kP, "", "libheapgauge.so is not where it should be"},
      {"agent-broken", kP, "", "the agent does not work in a small program"},
      {"ptrace-limits", kH, "", "this user may not look into other processes"},
      {"hidden-processes", kW, "", "/proc hides the processes of others"},
  };
  return causes;
}

Finding Found(std::string_view id, std::string_view what, std::string_view evidence,
              std::string_view remedy) {
  Finding finding;
  finding.id = std::string(id);
  for (const Cause& cause : Causes()) {
    if (id == cause.id) finding.severity = cause.severity;
  }
  finding.what = Printable(what);
  finding.evidence = Printable(evidence);
  finding.remedy = Printable(remedy);
  return finding;
}

Finding Fine(std::string_view what, std::string_view evidence) {
  return {"ok", Severity::kOk, Printable(what), Printable(evidence), ""};
}

void SortFindings(Findings* findings) {
  std::stable_sort(findings->begin(), findings->end(), [](const Finding& a, const Finding& b) {
    return static_cast<int>(a.severity) < static_cast<int>(b.severity);
  });
}

bool HasProblem(const Findings& findings) { return FirstProblem(findings) != nullptr; }

const Finding* FindById(const Findings& findings, std::string_view id) {
  const auto it = std::find_if(findings.begin(), findings.end(),
                               [&](const Finding& finding) { return finding.id == id; });
  return it == findings.end() ? nullptr : &*it;
}

const Finding* FirstProblem(const Findings& findings) {
  const auto it = std::find_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.severity == Severity::kProblem;
  });
  return it == findings.end() ? nullptr : &*it;
}

void Append(Findings from, Findings* to) {
  to->insert(to->end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace heapgauge
