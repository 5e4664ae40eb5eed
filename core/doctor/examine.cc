#include "core/doctor/examine.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/doctor/command.h"
#include "core/doctor/directory.h"
#include "core/doctor/executable.h"
#include "core/doctor/gauge.h"
#include "core/doctor/host.h"
#include "core/doctor/process.h"
#include "core/gauge/gauge_directory.h"
#include "core/gauge/gauge_reader.h"
#include "core/os/process.h"
#include "core/symbolize/symbolizer.h"
#include "core/trace/file/live_trace.h"
#include "core/trace/file/trace_file.h"
#include "wire/gauge_format.h"

namespace heapgauge {
namespace {

std::map<std::string, std::string> OwnEnvironment() {
  std::map<std::string, std::string> environment;
  for (const char* name : {"HEAPGAUGE_DIR", "XDG_RUNTIME_DIR", "LD_PRELOAD"}) {
    if (const char* value = std::getenv(name); value != nullptr && *value != 0) {
      environment[name] = value;
    }
  }
  return environment;
}

void AddSurroundings(const std::string& root, const std::string& cgroups,
                     std::vector<DirectoryFacts>* choices) {
  const std::string evidence = ContainerEvidence(root, cgroups);
  uint64_t limit = kNoLimit;
  uint64_t usage = 0;
  ReadMemoryLimit(static_cast<uint32_t>(getpid()), &limit, &usage);
  for (DirectoryFacts& facts : *choices) {
    facts.in_container = !evidence.empty();
    facts.container_evidence = evidence;
    facts.memory_limit = limit;
  }
}

// The directories that a program of ours would use; `directory` in place of them if it is not "".
Findings CheckOwnDirectories(const std::string& directory = "") {
  std::vector<DirectoryFacts> choices;
  std::map<std::string, std::string> environment = OwnEnvironment();
  if (!directory.empty()) environment["HEAPGAUGE_DIR"] = directory;
  for (DirectoryChoice choice : GaugeDirectoryChoices(environment, geteuid())) {
    choice.path = std::filesystem::absolute(choice.path).string();
    choices.push_back(ReadDirectory(choice, geteuid(), ""));
  }
  AddSurroundings("", ReadWholeFile("/proc/self/cgroup", 65536).value_or(""), &choices);
  return CheckDirectories(choices);
}

Findings CheckOwnAgent(const DoctorOptions& options) {
  if (options.agent.empty()) {
    return {Found("agent-missing", "the agent is not there", options.agent_error,
                  "install libheapgauge.so, or set HEAPGAUGE_AGENT to its path")};
  }
  if (!options.probe) return {};
  return CheckProbe(ProbeAgent(options.agent), options.agent, options.version);
}

// The programs that are profiled now, in a line.
Finding ProfiledPrograms(const DoctorOptions& options) {
  std::string list;
  size_t count = 0;
  size_t gone = 0;
  for (const std::string& directory : GaugeDirectories()) {
    const auto paths = ListGaugeFiles(directory);
    if (!paths) continue;
    for (const std::string& path : *paths) {
      const auto facts = ReadGaugeFacts(path);
      if (!facts) continue;
      if (facts->recording().state != RecordingState::kLive) {
        ++gone;
        continue;
      }
      if (++count > 20) continue;
      list += fmt::format("{}{} (pid {}) {}", list.empty() ? "" : ", ", facts->recording().name(),
                          facts->recording().pid, HealthOf(CheckGauge(*facts, options.version)));
    }
  }
  if (count > 20) list += fmt::format(" and {} more", count - 20);
  return Fine(fmt::format("{} program{} profiled now, {} file{} of programs that are gone", count,
                          count == 1 ? " is" : "s are", gone, gone == 1 ? " is" : "s are"),
              list.empty() ? "heapgauge ps lists them" : list);
}

void CheckNames(const std::string& path, uint32_t pid, Findings* findings) {
  auto profile = ReadGaugeFile(path);
  if (!profile) return;
  SymbolizeOptions symbolize;
  symbolize.pid = pid;
  const SymbolizeReport report = Symbolize(symbolize, &*profile);
  Append(CheckSymbols(*profile, report.notes), findings);
}

// The limit of this process, which its children have as well, that leaves no room for a gauge file;
// "" if none is so tight.
std::string TightLimit() {
  constexpr uint64_t kRoomyFile = 64 << 20;
  constexpr uint64_t kWholeGauge = uint64_t{wire::kMaxSegments} * wire::kSegmentBytes;
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < kRoomyFile) {
    return fmt::format("files may have {} at the most here; ulimit -f unlimited lifts that",
                       FormatBytes(static_cast<double>(limit.rlim_cur)));
  }
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur / 2 < kWholeGauge) {
    return fmt::format(
        "processes may have {} of addresses at the most here; ulimit -v unlimited lifts that",
        FormatBytes(static_cast<double>(limit.rlim_cur)));
  }
  return "";
}

// What keeps calls from the agent is no longer sure where samples did arrive.
void SoftenWhereSamplesArrived(Findings* findings) {
  for (Finding& finding : *findings) {
    if (finding.id == "own-allocator" || finding.id == "interposer-first" ||
        finding.id == "sanitizer") {
      finding.severity = std::max(finding.severity, Severity::kWarning);
      finding.evidence += "; some samples did arrive";
    }
  }
}

Findings CheckExecutableOf(const ProcessFacts& facts) {
  ExecutableFacts executable = ReadExecutable(ProcessDirectory(facts.pid) + "/exe", facts.root);
  if (!facts.exe.empty()) executable.path = facts.exe;
  executable.uid = facts.uid;
  executable.gid = facts.gid;
  if (facts.secure.has_value() && !*facts.secure) {
    // Whatever the file's bits are, they had no effect on this process.
    executable.mode &= 0777;
    executable.has_capabilities = false;
  }
  Findings findings = CheckExecutable(executable);
  findings.erase(std::remove_if(findings.begin(), findings.end(),
                                [](const Finding& f) { return f.severity == Severity::kOk; }),
                 findings.end());
  const auto choice = facts.environment.find("PYTHONMALLOC");
  if (choice != facts.environment.end() && choice->second == "malloc") {
    findings.erase(std::remove_if(findings.begin(), findings.end(),
                                  [](const Finding& f) {
                                    return f.id == "own-heap" && f.severity == Severity::kHint;
                                  }),
                   findings.end());
  }
  return findings;
}

// The agent is loaded and no file of it is mapped.
void CheckMissingGauge(const ProcessFacts& facts, Findings* findings) {
  if (facts.secure.value_or(false)) {
    findings->push_back(
        Found("secure-execution",
              fmt::format("process {} ({}) runs with raised rights: the agent stays "
                          "out of it",
                          facts.pid, facts.name),
              "AT_SECURE is set in its auxiliary vector", "start it as the user it runs as"));
    return;
  }
  std::vector<DirectoryFacts> choices;
  for (const DirectoryChoice& choice :
       GaugeDirectoryChoices(facts.environment, facts.effective_uid)) {
    choices.push_back(ReadDirectory(choice, facts.effective_uid, facts.root));
  }
  const Findings why = CheckDirectories(choices);
  const Finding* problem = FirstProblem(why);
  findings->push_back(Found(
      "no-gauge-file",
      fmt::format("the agent is in process {} ({}), but found no place for its file", facts.pid,
                  facts.name),
      problem != nullptr ? problem->what
                         : "its directory is in order now, so it was not when the program started",
      problem != nullptr ? problem->remedy + "; then start the program again"
                         : "start the program again"));
  if (problem != nullptr) findings->push_back(*problem);
}

// The program itself notices that its recorder is gone only when its buffers are full.
void LookForRecorder(GaugeFacts* facts) {
  RecordingFacts& r = facts->summary.recording;
  if (!r.traced || r.state != RecordingState::kLive || trace::IsBeingRecorded(facts->path)) return;
  r.traced = false;
  r.trace_given_up = true;
}

// Whether the process can still open the file that it made.
void CheckRights(const ProcessFacts& facts, const RecordingFacts& recording,
                 const GaugeInMemory& gauge, Findings* findings) {
  const bool other_user = recording.uid != facts.effective_uid && facts.effective_uid != 0;
  if (!other_user && !gauge.outside) return;
  const std::string change = other_user ? fmt::format("started as user {} and is user {} now",
                                                      recording.uid, facts.effective_uid)
                                        : "has locked itself into a directory (chroot)";
  findings->push_back(
      Found("rights-changed",
            fmt::format("process {} ({}) {}: it cannot open its gauge file any more, which keeps "
                        "the room it has",
                        facts.pid, facts.name, change),
            gauge.path + (other_user ? " belongs to the first" : " is outside"),
            "nothing, unless samples get lost; then start it as the user it becomes, or sample "
            "less: run --sample"));
}

void CheckGaugeOf(const DoctorOptions& options, const ProcessFacts& facts, Findings* findings) {
  const auto [mine, parent] = OwnAmong(facts.gauges, facts.pid);
  if (!mine) {
    if (!parent) return;  // deleted, which was said
    const bool parent_runs = OwnerRuns(*parent);
    Finding finding = Found(
        "no-gauge-file",
        fmt::format("process {} ({}) was forked from process {}{} and has taken "
                    "no sample since; it makes its file at its first one",
                    facts.pid, facts.name, parent->pid, parent_runs ? "" : ", which is gone,"),
        fmt::format("it has the gauge file of process {} mapped", parent->pid),
        "heapgauge doctor " + (parent_runs ? std::to_string(parent->pid) : Quoted({parent->path})));
    finding.severity = Severity::kWarning;
    findings->push_back(std::move(finding));
    return;
  }
  auto gauge = ReadGaugeFacts(mine->path, facts.pid);
  if (!gauge) {
    findings->push_back(
        Found("unreadable-gauge", gauge.error().message, mine->path, "start the program again"));
    return;
  }
  LookForRecorder(&*gauge);
  if (gauge->recording().samples != 0) SoftenWhereSamplesArrived(findings);
  Append(CheckGauge(*gauge, options.version), findings);
  CheckRights(facts, gauge->recording(), *mine, findings);
  std::vector<DirectoryFacts> directory = {
      ReadDirectory({mine->path_inside.substr(0, mine->path_inside.rfind('/')), true},
                    facts.effective_uid, mine->root)};
  directory[0].writable = true;  // to grow, a file is opened and not made
  directory[0].in_container = facts.in_container;
  directory[0].container_evidence = facts.container_evidence;
  directory[0].memory_limit = facts.memory_limit;
  Append(CheckDirectories(directory), findings);
  CheckNames(mine->path, facts.pid, findings);
}

}  // namespace

Examination ExamineHost(const DoctorOptions& options) {
  Examination result;
  result.subject = "this host";
  Append(CheckOwnAgent(options), &result.findings);
  Append(CheckOwnDirectories(), &result.findings);
  Append(CheckHost(ReadHostFacts()), &result.findings);
  result.findings.push_back(ProfiledPrograms(options));
  SortFindings(&result.findings);
  return result;
}

Examination ExamineCommand(const DoctorOptions& options, const std::vector<std::string>& command) {
  Examination result;
  result.subject = CutTo(Printable(Quoted(command)), 100);
  Append(CheckCommand(command), &result.findings);
  const std::string path = FindCommand(command[0]);
  Append(CheckExecutable(ReadExecutable(path.empty() ? command[0] : path)), &result.findings);
  for (const PreloadEntry& entry : ReadPreload(OwnEnvironment()["LD_PRELOAD"], "", getuid())) {
    if (entry.is_agent) continue;
    result.findings.push_back(Found(
        "other-preload",
        entry.name + " is preloaded too" +
            (entry.allocator.empty() ? "" : ": the allocator will be " + entry.allocator),
        "LD_PRELOAD in the environment" + (entry.problem.empty() ? "" : "; " + entry.problem), ""));
  }
  Append(CheckOwnAgent(options), &result.findings);
  Append(CheckOwnDirectories(), &result.findings);
  SortFindings(&result.findings);
  return result;
}

Examination ExamineProcess(const DoctorOptions& options, uint32_t pid) {
  Examination result;
  const ProcessFacts facts = ReadProcessFacts(pid);
  result.subject = facts.name.empty() ? fmt::format("process {}", pid)
                                      : fmt::format("{} (pid {})", Printable(facts.name), pid);
  result.findings = CheckPresence(facts);
  if (HasProblem(result.findings)) {
    // What it left behind may still tell something.
    if (const auto path = FindGaugeOf(pid)) {
      if (const auto gauge = ReadGaugeFacts(*path)) {
        Append(CheckGauge(*gauge, options.version), &result.findings);
      }
    }
    SortFindings(&result.findings);
    return result;
  }
  Append(CheckAgent(facts, CheckExecutableOf(facts)), &result.findings);
  Append(CheckSurroundings(facts), &result.findings);
  if (facts.agent_loaded()) {
    if (facts.gauges.empty()) {
      CheckMissingGauge(facts, &result.findings);
    } else {
      CheckGaugeOf(options, facts, &result.findings);
    }
  }
  SortFindings(&result.findings);
  return result;
}

Examination ExamineGauge(const DoctorOptions& options, const std::string& path) {
  Examination result;
  result.subject = Printable(path);
  auto gauge = ReadGaugeFacts(path);
  if (!gauge) {
    result.findings.push_back(Found("unreadable-gauge", gauge.error().message, path,
                                    "heapgauge ps lists the gauge files there are"));
    return result;
  }
  const RecordingFacts& r = gauge->recording();
  if (r.state == RecordingState::kLive) {
    Examination process = ExamineProcess(options, r.pid);
    // The process may belong to somebody else; the file is readable all the same.
    if (FindById(process.findings, "not-permitted") == nullptr) return process;
  }
  LookForRecorder(&*gauge);
  result.subject = fmt::format("{} (pid {})", r.name(), r.pid);
  Append(CheckGauge(*gauge, options.version), &result.findings);
  if (r.samples == 0 && !r.program.empty()) {
    Append(CheckExecutable(ReadExecutable(r.program)), &result.findings);
  }
  CheckNames(path, r.state == RecordingState::kLive ? r.pid : 0, &result.findings);
  SortFindings(&result.findings);
  return result;
}

Examination ExamineTrace(const std::string& path) {
  Examination result;
  result.subject = Printable(path);
  const auto trace = trace::TraceFile::Open(path);
  if (!trace) {
    result.findings.push_back(Found("unreadable-trace", trace.error().message, path,
                                    "record again: heapgauge run --trace -- ..."));
    return result;
  }
  const trace::Facts& facts = (*trace)->facts();
  const RecordingFacts& r = facts.recording;
  result.subject = fmt::format("a trace of {} (pid {})", Printable(r.name()), r.pid);
  const std::string evidence = fmt::format("{} events, {} blocks, {}", (*trace)->events(),
                                           (*trace)->blocks(), FormatDuration((*trace)->end_ns()));
  const std::string quoted = Quoted({path});
  const char* again = facts.lost_events != 0 && r.lacked_descriptors
                          ? "record again with a higher limit of open files (ulimit -n)"
                      : facts.lost_events != 0 ? "record again without --drop, or with a larger "
                                                 "--trace-buffer"
                      : facts.culled_blocks != 0
                          ? "for all blocks record again without --cull-below"
                          : "what is there is right; record again for more";
  for (const std::string& note : (*trace)->notes()) {
    Finding finding = Found("incomplete-trace", note, evidence,
                            facts.being_written ? "heapgauge ui " + quoted + " follows it" : again);
    if (facts.being_written) finding.severity = Severity::kHint;
    result.findings.push_back(std::move(finding));
  }
  // Of one that lost all its events it is known why it is empty.
  if ((*trace)->events() == 0 && (*trace)->notes().empty()) {
    result.findings.push_back(
        Found("empty-trace", "no call of the program was recorded: it made none, or none was seen",
              evidence, r.program.empty() ? "" : "heapgauge doctor -- " + Quoted({r.program})));
    if (!r.program.empty()) Append(CheckExecutable(ReadExecutable(r.program)), &result.findings);
  } else if ((*trace)->notes().empty()) {
    result.findings.push_back(Fine("the trace is whole: every allocation and free", evidence));
  }
  SortFindings(&result.findings);
  return result;
}

std::string WhyNoSamples(const std::vector<std::string>& command) {
  if (command.empty()) return "";
  Findings findings = CheckCommand(command);
  const std::string path = FindCommand(command[0]);
  Append(CheckExecutable(ReadExecutable(path.empty() ? command[0] : path)), &findings);
  SortFindings(&findings);
  const bool is_reason = !findings.empty() && findings.front().severity <= Severity::kWarning;
  return is_reason ? findings.front().what : "";
}

std::string WhyNoGauge(const std::vector<std::string>& command, const std::string& directory) {
  std::string why = WhyNoSamples(command);
  if (!why.empty()) return why;
  const Findings places = CheckOwnDirectories(directory);
  const Finding* problem = FirstProblem(places);
  return problem != nullptr ? problem->what : TightLimit();
}

std::string DoctorText(const Examination& examination) {
  std::string text = examination.subject + "\n";
  bool any = false;
  for (const Finding& finding : examination.findings) {
    if (finding.severity == Severity::kOk) continue;
    any = true;
    text += fmt::format("\n{:<8} {}\n", SeverityName(finding.severity), finding.id);
    text += "  " + finding.what + "\n";
    if (!finding.remedy.empty()) text += "  -> " + finding.remedy + "\n";
    if (!finding.evidence.empty()) text += "     (" + finding.evidence + ")\n";
  }
  bool first = true;
  for (const Finding& finding : examination.findings) {
    if (finding.severity != Severity::kOk) continue;
    text += fmt::format("{}ok       {}{}\n", first ? "\n" : "", finding.what,
                        finding.evidence.empty() ? "" : " (" + finding.evidence + ")");
    first = false;
  }
  return text + (any ? "\nNothing else stands in the way.\n" : "\nNothing stands in the way.\n");
}

std::string DoctorJson(const Examination& examination) {
  Json findings = Json::Array();
  for (const Finding& finding : examination.findings) {
    findings.Add({{"id", finding.id},
                  {"severity", SeverityName(finding.severity)},
                  {"what", finding.what},
                  {"evidence", finding.evidence},
                  {"remedy", finding.remedy}});
  }
  const Json json = {{"subject", examination.subject},
                     {"problem", HasProblem(examination.findings)},
                     {"findings", std::move(findings)}};
  return json.Text();
}

}  // namespace heapgauge
