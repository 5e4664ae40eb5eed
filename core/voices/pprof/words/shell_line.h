// One line of pprof's shell: what it means.
//
//   COMMAND[N] [PATTERN] [N] [FOCUS]... [-IGNORE]... [-cum] [>FILE]     a report
//   NAME=VALUE [//: remark], NAME                                        an option
//   TYPE, total_TYPE, mean_TYPE                                          a value of the profile
//   :  o  options  help [NAME]  q  quit  exit
//
// What a report's line says about focus and the like holds for this report alone; assignments stay.
// Messages are pprof's, since people search for them. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/profile.h"
#include "core/voices/pprof/words/settings.h"

namespace heapgauge::pprof {

// What the grammar must know about the profile.
struct ShellProfile {
  std::vector<std::string> sample_types;
  size_t default_type = 0;
};
ShellProfile DescribeForShell(const Profile& profile);

struct ShellStep {
  enum class Kind { kNothing, kReport, kMessage, kError, kQuit };
  Kind kind = Kind::kNothing;
  std::string text;  // of a message or an error
  // Of a report.
  const ReportCommand* command = nullptr;
  std::string pattern;
  Settings settings;
};

// Works on one line; assignments change `settings`. A line can be several steps.
std::vector<ShellStep> RunShellLine(std::string_view line, const ShellProfile& profile,
                                    Settings* settings);

// The list that "options" shows.
std::string OptionsText(const ShellProfile& profile, const Settings& settings);

// What "help" and "help NAME" show.
ShellStep HelpStep(std::string_view name, const ShellProfile& profile);

// The number of the value that a user means by a name, a number or "".
Result<size_t> SampleIndexOf(const ShellProfile& profile, std::string_view text);

// What the last word of a line may become: the name of a command or option by its beginning, behind
// a command a function by any part of its name.
std::vector<std::string> Completions(std::string_view line,
                                     const std::vector<std::string>& functions);

}  // namespace heapgauge::pprof
