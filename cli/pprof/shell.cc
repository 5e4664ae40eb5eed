#include "cli/pprof/shell.h"

#include <string>
#include <utility>

#include "cli/cli.h"
#include "cli/pprof/deliver.h"
#include "cli/pprof/line_reader.h"
#include "core/voices/pprof/legend.h"
#include "core/voices/pprof/report.h"
#include "core/voices/pprof/words/shell_line.h"

namespace heapgauge::cli {
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
    std::string about;
    for (const std::string& line : pprof::ProfileLabels(*input, pprof::FormatOf(*input))) {
      about += (about.empty() ? "" : "\n") + line;
    }
    say(about);
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

}  // namespace heapgauge::cli
