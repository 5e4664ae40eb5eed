#include "cli/pprof/cmd_pprof.h"

#include <cstdio>

#include "cli/cli.h"
#include "cli/pprof/deliver.h"
#include "cli/pprof/flags.h"
#include "cli/pprof/load.h"
#include "cli/pprof/run_perl.h"
#include "cli/pprof/shell.h"
#include "core/base/text.h"

namespace heapgauge::cli {
namespace {

// Messages come from profiles and servers too: nothing of that may steer the terminal.
void SayOnStandardError(const std::string& text) {
  std::fflush(stdout);
  std::string shown;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    shown += Printable(std::string_view(text).substr(start, end - start)) + "\n";
    start = end + 1;
  }
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
