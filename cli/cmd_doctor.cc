// doctor: why is there no data, or little, and what to do about it.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "cli/cli.h"
#include "cli/launch.h"
#include "core/base/file.h"
#include "core/base/numbers.h"
#include "core/base/text.h"
#include "core/doctor/examine.h"
#include "core/recording/recording.h"

namespace heapgauge::cli {
namespace {

struct DoctorArguments {
  std::string source;
  bool json = false;
  bool run = false;
  bool causes = false;
};

DoctorOptions OptionsOfHost() {
  DoctorOptions options;
  options.version = Version();
  if (const auto agent = FindAgent()) {
    options.agent = *agent;
  } else {
    options.agent_error = agent.error().message;
  }
  return options;
}

int Tell(const DoctorArguments& arguments, const Examination& examination) {
  const int printed = PrintOut(arguments.json ? DoctorJson(examination) : DoctorText(examination));
  if (printed != kDone) return printed;
  return HasProblem(examination.findings) ? kCheckFailed : kDone;
}

int ListCauses() {
  std::string text;
  for (const Cause& cause : Causes()) {
    text +=
        fmt::format("{:<24}{:<9}{}\n", cause.id, SeverityName(cause.severity), cause.short_meaning);
  }
  return PrintOut(text);
}

// Runs the command with the agent, to its end, and looks at the file it leaves.
Result<Examination> ExamineRun(const DoctorOptions& options,
                               const std::vector<std::string>& command) {
  Examination before = ExamineCommand(options, command);
  if (options.agent.empty()) return before;
  char directory[] = "/tmp/heapgauge-doctor-XXXXXX";
  if (mkdtemp(directory) == nullptr) {
    return tl::unexpected<Error>(SystemError("cannot make a directory in /tmp", errno));
  }
  const std::string file = std::string(directory) + "/run.hg";
  LaunchSpec spec;
  spec.command = command;
  HG_TRY(PreloadAgent(options.agent, &spec));
  spec.environment.emplace_back("HEAPGAUGE_ACTIVE", "1");
  spec.environment.emplace_back("HEAPGAUGE_OUT", file);
  spec.pid_variable = "HEAPGAUGE_OUT_PID";
  // Its output is not the doctor's: only that goes to standard output.
  const int standard_output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  constexpr uint64_t kSecond = 1'000'000'000;
  const auto result = Launch(spec, kSecond, [](pid_t) {});
  dup2(standard_output, STDOUT_FILENO);
  close(standard_output);
  Examination examination = before;
  if (result && access(file.c_str(), R_OK) == 0) {
    examination = ExamineGauge(options, file);
    // Of the command there is more to say than of its file alone.
    for (Finding& finding : before.findings) {
      if (finding.id != "ok" && FindById(examination.findings, finding.id) == nullptr) {
        examination.findings.push_back(std::move(finding));
      }
    }
    SortFindings(&examination.findings);
  } else if (result && !HasProblem(before.findings)) {
    examination.findings.insert(
        examination.findings.begin(),
        Found("no-gauge-file", "the program ran, but the agent made no file",
              "it was run with the agent in LD_PRELOAD",
              "see whether it starts another program by a clean environment"));
  }
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  if (!result) return tl::unexpected<Error>(result.error());
  return examination;
}

int Doctor(const DoctorArguments& arguments) {
  if (arguments.causes) return ListCauses();
  const std::vector<std::string>& command = CommandAfterDashes();
  if (!command.empty() && !arguments.source.empty()) {
    return FailWith("doctor looks at a PID, a FILE or a command after --, not at two of them");
  }
  if (arguments.run && command.empty()) {
    return FailWith(
        "--run needs a command after --, for example: heapgauge doctor --run -- ./server");
  }
  const DoctorOptions options = OptionsOfHost();
  if (arguments.run) {
    const auto examination = ExamineRun(options, command);
    return examination ? Tell(arguments, *examination) : FailWith(examination.error());
  }
  if (!command.empty()) return Tell(arguments, ExamineCommand(options, command));
  if (arguments.source.empty()) return Tell(arguments, ExamineHost(options));
  struct stat st {};
  const std::string& source = arguments.source;
  if (stat(source.c_str(), &st) != 0) {
    const uint32_t pid = NumberIn<uint32_t>(source).value_or(0);
    if (pid != 0) return Tell(arguments, ExamineProcess(options, pid));
  }
  if (FormatAt(source) == ProfileFormat::kTrace) return Tell(arguments, ExamineTrace(source));
  const auto path = LocateFile(source);
  return path ? Tell(arguments, ExamineGauge(options, *path)) : FailWith(path.error());
}

void DescribeDoctor(Command sub, Action* action) {
  auto arguments = std::make_shared<DoctorArguments>();
  sub.Footer(R"(
Without arguments the host is looked at: the agent, the gauge directory, what this user may do. A command
after -- is not run, only its files are looked at, unless --run is given. Each finding has a name that does
not change; docs/doctor.md explains them all.

Examples:
  heapgauge doctor                     is everything in place?
  heapgauge doctor 4242                why does top show nothing for this process?
  heapgauge doctor server.4242.hg      are there enough samples, and which interval would do?
  heapgauge doctor run.hgt             is this trace whole, and what is missing?
  heapgauge doctor -- ./server         can this program be profiled?
  heapgauge doctor --run -- ./batch    run it to its end, then look at what was recorded

Exit codes: 0 no problem, 1 a problem was found, 2 bad usage or input.)");
  sub.Add("SOURCE", &arguments->source, "PID, gauge file or trace");
  sub.Flag("--json", &arguments->json, "as JSON");
  sub.Flag("--run", &arguments->run, "run the command after --, then look");
  sub.Flag("--causes", &arguments->causes, "list all causes that the doctor knows");
  sub.OnChosen([=] { *action = [=] { return Doctor(*arguments); }; });
}

}  // namespace

const CommandEntry kDoctorCommand = {
    "doctor", "why is there no data, or little: doctor [PID | FILE | -- CMD ARGS...]",
    DescribeDoctor};

}  // namespace heapgauge::cli
