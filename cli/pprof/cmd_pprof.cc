#include <cstdio>
#include <string>
#include <utility>

#include "cli/cli.h"
#include "cli/line_reader.h"
#include "cli/pprof/deliver.h"
#include "cli/pprof/flags.h"
#include "cli/pprof/load.h"
#include "cli/pprof/run_perl.h"
#include "core/base/text.h"
#include "core/model/profile.h"
#include "core/voices/pprof/legend.h"
#include "core/voices/pprof/report.h"
#include "core/voices/pprof/words/settings.h"
#include "core/voices/pprof/words/shell_line.h"

namespace heapgauge::cli {

// The interactive shell with pprof's commands (core/voices/pprof/words/shell_line.h has the
// grammar).
//
// On a terminal lines are edited, completed and remembered. From a pipe it answers byte for byte as
// `go tool pprof` does, prompts included: people write scripts that way. Single-threaded.
//
// Runs until the user leaves. Returns the exit code.
int RunShell(const Profile& profile, pprof::Settings settings, const Say& say);

namespace {

// Messages end with one line feed, whatever they came with.
void SayText(const Say& say, std::string text) {
  if (!text.empty() && text.back() == '\n') text.pop_back();
  say(text);
}

void Greet(const Profile& profile, const pprof::Settings& settings, const Say& say) {
  pprof::ReportRequest request;  // without filters: what is told is about the whole profile
  request.config.sample_index = settings.config.sample_index;
  request.config.mean = settings.config.mean;
  request.config.unit = settings.config.unit;
  request.config.divide_by = settings.config.divide_by;
  const auto input = pprof::Prepare(profile, request);
  if (input) {
    say(Join(pprof::ProfileLabels(*input, pprof::FormatOf(*input)), "\n"));
    if (input->total == 0 && profile.sample_types.size() > 1) {
      say("No samples were found with the default sample value type.");
      say("Try \"sample_index\" command to analyze different sample values.");
    }
  }
  say("Entering interactive mode (type \"help\" for commands, \"o\" for options)");
}

}  // namespace

int RunShell(const Profile& profile, pprof::Settings settings, const Say& say) {
  settings.config.compact_labels = true;
  const pprof::ShellProfile described = pprof::DescribeForShell(profile);
  std::vector<std::string> functions;
  for (const Function& function : profile.functions) functions.push_back(function.name);
  PromptReader reader("(pprof) ", [&functions](const std::string& line) {
    return pprof::Completions(line, functions);
  });
  Greet(profile, settings, say);
  while (const auto line = reader.Read()) {
    for (const pprof::ShellStep& step : pprof::RunShellLine(*line, described, &settings)) {
      switch (step.kind) {
        case pprof::ShellStep::Kind::kNothing:
          break;
        case pprof::ShellStep::Kind::kQuit:
          return kDone;
        case pprof::ShellStep::Kind::kMessage:
        case pprof::ShellStep::Kind::kError:
          SayText(say, step.text);
          break;
        case pprof::ShellStep::Kind::kReport: {
          const Status status =
              WriteCommand(profile, *step.command, step.pattern, step.settings, true, say);
          if (!status) SayText(say, status.error().message);
          break;
        }
      }
    }
  }
  return kDone;
}

namespace {

// Messages come from profiles and servers too: nothing of that may steer the terminal.
void SayOnStandardError(const std::string& text) {
  std::fflush(stdout);
  std::string shown;
  for (const std::string_view line : PiecesOf(text, '\n')) shown += Printable(line) + "\n";
  std::fputs(shown.c_str(), stderr);
}

int RunAsPprof(const PprofCommandLine& line) {
  if (!line.http.empty()) {
    return FailWith("-http is not there yet; -web shows a graph in the browser");
  }
  auto profile = LoadForPprof(line.source, SayOnStandardError);
  if (!profile) return FailWith(profile.error());
  if (line.command == nullptr) return RunShell(*profile, line.settings, SayOnStandardError);
  const Status status = WriteCommand(*std::move(profile), *line.command, line.pattern,
                                     line.settings, false, SayOnStandardError);
  return status ? kDone : FailWith(status.error());
}

void DescribeByNameAlone(Command, Action*) {}

}  // namespace

const CommandEntry kPprofCommand = {
    "pprof", "reports with the flags and output of pprof, jeprof, google-pprof",
    DescribeByNameAlone};
const CommandEntry kShellCommand = {"shell", "an interactive shell with pprof's commands",
                                    DescribeByNameAlone};

bool IsPprofName(const std::string& called_as) {
  const std::string name(BaseName(called_as));
  for (const std::string end : {"jeprof", "pprof"}) {
    if (name.size() >= end.size() && name.substr(name.size() - end.size()) == end) return true;
  }
  return false;
}

int RunPprof(const std::vector<std::string>& arguments, const std::string& called_as) {
  const auto line = ParsePprofFlags(arguments, called_as);
  if (!line) return FailWith(line.error());
  if (line->help) return PrintOut(PprofHelp());
  if (line->version) return PrintOut(std::string("heapgauge ") + Version() + "\n");
  for (const std::string& warning : line->warnings) SayOnStandardError(warning);
  return line->dialect == Dialect::kPprof ? RunAsPprof(*line)
                                          : RunAsPerlTool(*line, SayOnStandardError);
}

int RunShellCommand(const std::vector<std::string>& arguments) {
  for (const std::string& word : arguments) {
    if (word != "--help" && word != "-help" && word != "-h") continue;
    return PrintOut(R"(Usage: heapgauge shell [FLAGS...] [PROGRAM] SOURCE...

An interactive shell with pprof's commands: top, list, peek, web, ... "help" in it lists them.
SOURCE and FLAGS are those of heapgauge pprof, without a report.

Examples:
  heapgauge shell 4242
  heapgauge shell http://localhost:6060/debug/pprof/heap
  echo 'top 5 -cum' | heapgauge shell heap.pb.gz
)");
  }
  const auto line = ParsePprofFlags(arguments, "heapgauge");
  if (!line) return FailWith(line.error());
  if (line->command != nullptr) {
    return FailWith("heapgauge shell makes no report by itself; for -" +
                    std::string(line->command->name) + " use heapgauge pprof");
  }
  return RunPprof(arguments, "heapgauge");
}

}  // namespace heapgauge::cli
